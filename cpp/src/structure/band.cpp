#include "coherently/structure/band.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace coherently {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// Nodes with their neighbours, those with few neighbours first.
struct Joins {
    std::vector<std::int32_t> starts, node;

    Joins(std::size_t size, std::span<const std::int32_t> first, std::span<const std::int32_t> second)
        : starts(size + 1) {
        for (std::size_t e = 0; e < first.size(); ++e)
            if (first[e] != second[e]) ++starts[at(first[e]) + 1], ++starts[at(second[e]) + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        node.resize(at(starts.back()));
        std::vector<std::int32_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t e = 0; e < first.size(); ++e) {
            if (first[e] == second[e]) continue;
            node[at(next[at(first[e])]++)] = second[e];
            node[at(next[at(second[e])]++)] = first[e];
        }
        for (std::size_t i = 0; i < size; ++i) {
            const auto key = [&](std::int32_t other) { return std::pair(degree(other), other); };
            std::sort(node.begin() + starts[i], node.begin() + starts[i + 1],
                      [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
        }
    }

    std::int32_t degree(std::int32_t i) const { return starts[at(i) + 1] - starts[at(i)]; }
    std::span<const std::int32_t> of(std::int32_t i) const { return {node.data() + starts[at(i)], at(degree(i))}; }
};

// Appends the nodes that are joined to a first one, by distance from it, and returns where the farthest begin.
std::size_t spread(const Joins& joins, std::int32_t first, std::vector<std::int32_t>& order,
                   std::vector<std::uint8_t>& seen) {
    std::size_t layer = order.size(), end = layer + 1;
    order.push_back(first);
    seen[at(first)] = 1;
    for (std::size_t k = layer; k < order.size(); ++k) {
        if (k == end) layer = k, end = order.size();
        for (const std::int32_t other : joins.of(order[k])) {
            if (seen[at(other)]) continue;
            seen[at(other)] = 1;
            order.push_back(other);
        }
    }
    return layer;
}

constexpr int TRIES = 4;  // to find a node at an end

}  // namespace

std::vector<std::int32_t> band_order(std::size_t size, std::span<const std::int32_t> first,
                                     std::span<const std::int32_t> second) {
    const Joins joins(size, first, second);
    std::vector<std::int32_t> order;
    std::vector<std::uint8_t> seen(size);
    order.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        if (seen[i]) continue;
        const std::size_t begin = order.size();
        std::int32_t start = static_cast<std::int32_t>(i);
        for (int k = 0;; ++k) {  // a node of the farthest layer, with few neighbours, is nearer to an end
            const std::size_t layer = spread(joins, start, order, seen);
            if (k == TRIES) break;
            const auto far = std::min_element(order.begin() + static_cast<std::ptrdiff_t>(layer), order.end(),
                                              [&](auto a, auto b) { return joins.degree(a) < joins.degree(b); });
            start = *far;
            for (std::size_t j = begin; j < order.size(); ++j) seen[at(order[j])] = 0;
            order.resize(begin);
        }
    }
    std::vector<std::int32_t> number(size);
    for (std::size_t k = 0; k < size; ++k) number[at(order[k])] = static_cast<std::int32_t>(size - 1 - k);
    return number;
}

BandFactor::BandFactor(std::size_t size, std::size_t width, std::vector<double> band)
    : size_(size), width_(width), band_(std::move(band)) {
    for (std::size_t j = 0; j < size_; ++j) {
        double* own = band_.data() + j * (width_ + 1);
        if (!(own[0] > 0) || !std::isfinite(own[0])) {
            is_positive_ = false;
            return;
        }
        const double root = std::sqrt(own[0]);
        const std::size_t reach = std::min(width_, size_ - 1 - j);
        own[0] = root;
        for (std::size_t d = 1; d <= reach; ++d) own[d] /= root;
        for (std::size_t k = 1; k <= reach; ++k) {
            double* other = band_.data() + (j + k) * (width_ + 1);
            const double factor = own[k];
            if (factor == 0) continue;
            for (std::size_t d = k; d <= reach; ++d) other[d - k] -= factor * own[d];
        }
    }
}

void BandFactor::solve(std::span<double> right) const {
    for (std::size_t j = 0; j < size_; ++j) {
        const double* own = band_.data() + j * (width_ + 1);
        const std::size_t reach = std::min(width_, size_ - 1 - j);
        right[j] /= own[0];
        for (std::size_t d = 1; d <= reach; ++d) right[j + d] -= own[d] * right[j];
    }
    for (std::size_t j = size_; j-- > 0;) {
        const double* own = band_.data() + j * (width_ + 1);
        const std::size_t reach = std::min(width_, size_ - 1 - j);
        for (std::size_t d = 1; d <= reach; ++d) right[j] -= own[d] * right[j + d];
        right[j] /= own[0];
    }
}

}  // namespace coherently
