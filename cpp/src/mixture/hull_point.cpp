#include "coherently/mixture/hull_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linear/dot.hpp"

namespace coherently {
namespace {

constexpr double positive = 1e-12;     // shares up to this count as none
constexpr double optimal = 1e-11;      // by how much a world may be better than the mixture found
constexpr double on_face = 1e-9;       // by how much one of a mixture as near may be worse: rounding errors
constexpr double independent = 1e-10;  // smaller pivots mean a world in the plane of the others
constexpr int most_steps = 300;        // worlds that are taken up

// Worlds with their shares, and the triangular factor L of P P' + 1 1', where the rows of P are worlds less the target.
class Corral {
public:
    Corral(std::span<const double> truth, std::size_t items, std::span<const double> target,
           std::span<const std::uint8_t> active)
        : truth_(truth), items_(items), target_(target), active_(active) {}

    // False if the world lies in the plane of the others.
    bool add(std::int64_t world, double share) {
        std::vector<double> row(items_);
        for (std::size_t i = 0; i < items_; ++i)
            row[i] = active_[i] != 0 ? truth_[static_cast<std::size_t>(world) * items_ + i] - target_[i] : 0.0;
        points_.push_back(std::move(row));
        worlds.push_back(world);
        this->share.push_back(share);
        if (extend()) return true;
        points_.pop_back(), worlds.pop_back(), this->share.pop_back();
        return false;
    }

    // Moves to the nearest point of the plane of the worlds, and drops those that it would take less than nothing of.
    bool settle() {
        for (;;) {
            const std::vector<double> wanted = nearest_in_plane();
            double step = 1.0;
            std::size_t worst = worlds.size();
            for (std::size_t k = 0; k < worlds.size(); ++k) {
                if (wanted[k] > positive) continue;
                const double own = share[k] / std::max(share[k] - wanted[k], positive);
                if (worst == worlds.size() || own < step) step = std::min(own, 1.0), worst = k;
            }
            if (worst == worlds.size()) {
                share = wanted;
                return true;
            }
            for (std::size_t k = 0; k < worlds.size(); ++k) share[k] += step * (wanted[k] - share[k]);
            share[worst] = 0.0;
            if (!drop()) return false;
        }
    }

    // The mixture less the target.
    std::vector<double> mixed() const {
        std::vector<double> sum(items_, 0.0);
        for (std::size_t k = 0; k < worlds.size(); ++k)
            for (std::size_t i = 0; i < items_; ++i) sum[i] += share[k] * points_[k][i];
        return sum;
    }

    std::vector<std::int64_t> worlds;
    std::vector<double> share;

private:
    // One more row of the factor, for the point that has none yet.
    bool extend() {
        const std::size_t n = factor_.size();
        std::vector<double> row(n + 1);
        for (std::size_t k = 0; k <= n; ++k) {
            const double own = 1.0 + dot(points_[n].data(), points_[k].data(), items_);
            if (k < n) row[k] = (own - dot(row.data(), factor_[k].data(), k)) / factor_[k][k];
            else row[k] = own - dot(row.data(), row.data(), k);
        }
        if (row[n] < independent) return false;
        row[n] = std::sqrt(row[n]);
        factor_.push_back(std::move(row));
        return true;
    }

    // The shares, which sum to 1, of the point nearest to the target in the plane: (P P' + 1 1') y = 1.
    std::vector<double> nearest_in_plane() const {
        const std::size_t n = factor_.size();
        std::vector<double> y(n);
        for (std::size_t k = 0; k < n; ++k) y[k] = (1.0 - dot(factor_[k].data(), y.data(), k)) / factor_[k][k];
        for (std::size_t k = n; k-- > 0;) {
            y[k] /= factor_[k][k];
            for (std::size_t j = 0; j < k; ++j) y[j] -= factor_[k][j] * y[k];
        }
        const double sum = std::accumulate(y.begin(), y.end(), 0.0);
        for (double& one : y) one /= sum;
        return y;
    }

    // Worlds without a share go; rows of the factor before the first of them stay as they are.
    bool drop() {
        std::size_t kept = 0, first = worlds.size();
        for (std::size_t k = 0; k < worlds.size(); ++k) {
            if (share[k] <= positive) {
                first = std::min(first, k);
                continue;
            }
            if (kept < k) worlds[kept] = worlds[k], share[kept] = share[k], points_[kept] = std::move(points_[k]);
            ++kept;
        }
        worlds.resize(kept), share.resize(kept), points_.resize(kept);
        factor_.resize(std::min(first, kept));
        while (factor_.size() < kept)
            if (!extend()) return false;
        const double sum = std::accumulate(share.begin(), share.end(), 0.0);
        for (double& one : share) one /= sum;
        return kept > 0;
    }

    std::span<const double> truth_;
    std::size_t items_;
    std::span<const double> target_;
    std::span<const std::uint8_t> active_;
    std::vector<std::vector<double>> points_, factor_;
};

}  // namespace

WorldHull::WorldHull(std::size_t worlds, std::size_t items, std::span<const std::uint8_t> truth)
    : worlds_(worlds), items_(items), truth_(truth.begin(), truth.end()) {}

std::optional<HullPoint> WorldHull::nearest(std::span<const double> target, std::span<const std::uint8_t> active,
                                            HullPoint start) const {
    Corral corral(truth_, items_, target, active);
    for (std::size_t k = 0; k < start.worlds.size(); ++k) corral.add(start.worlds[k], start.share[k]);
    if (corral.worlds.empty()) corral.add(0, 1.0);
    const double sum = std::accumulate(corral.share.begin(), corral.share.end(), 0.0);
    for (double& one : corral.share) one /= sum;
    std::vector<double> better(worlds_);
    for (int step = 0; step < most_steps; ++step) {
        if (!corral.settle()) return {};
        const std::vector<double> mixed = corral.mixed();
        // (w - t) (x - t) for each world w; entries that are not active are 0 in x - t.
        double away = 0.0, square = 0.0;
        for (std::size_t i = 0; i < items_; ++i)
            if (active[i] != 0) away += target[i] * mixed[i], square += mixed[i] * mixed[i];
        std::size_t best = 0;
        for (std::size_t w = 0; w < worlds_; ++w) {
            better[w] = dot(&truth_[w * items_], mixed.data(), items_) - away;
            if (better[w] < better[best]) best = w;
        }
        if (better[best] >= square - optimal) {
            HullPoint found{std::move(corral.worlds), std::move(corral.share), {}};
            for (std::size_t w = 0; w < worlds_; ++w)
                if (better[w] <= square + on_face) found.face.push_back(static_cast<std::int64_t>(w));
            return found;
        }
        const auto world = static_cast<std::int64_t>(best);
        if (std::find(corral.worlds.begin(), corral.worlds.end(), world) != corral.worlds.end()) return {};
        if (!corral.add(world, 0.0)) return {};
    }
    return {};
}

}  // namespace coherently
