#include "coherently/worlds/branch/diagonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "worlds/branch/semidefinite.hpp"

namespace coherently {
namespace {

constexpr int retune_every = 6;  // levels of the tree
constexpr int retune_kept = 12;  // of one that is kept: a diagonal is much to write and to check
constexpr int most_sweeps = 50;  // of coordinate descent at a node
constexpr Precision root_precision{1e-6, 2}, node_precision{1e-3, 2};
constexpr double worth_it = 0.1;  // part of the distance to the cutoff that a sweep must gain
constexpr int between_clocks = 16;
constexpr std::size_t patience = 1000;  // nodes

Precision sharp(double seconds) { return {1e-9, 6, after(seconds)}; }

}  // namespace

// A diagonal, one entry per variable, with the vectors that it came from.
struct DiagonalBound::Tuning {
    std::vector<double> y;
    Vectors vectors;
};

DiagonalBound::DiagonalBound(const Energy& energy, std::uint64_t seed)
    : energy_(energy), n_(energy.n_variables()), random_(seed) {}

// The energy over signs: x_v = (1 + s_v) / 2, so l x_v is l/2 + l/2 s_v, and an interaction c x_v x_w is
// c/4 (1 + s_v + s_w + s_v s_w). Each interaction is met twice, from v and from w: c/8 each in the matrix and constant.
void DiagonalBound::read() {
    matrix_.assign(n_ * n_, 0.0);
    field_.assign(n_, 0.0);
    constant_ = magnitude_ = 0;
    for (std::size_t v = 0; v < n_; ++v) {
        const double linear = energy_.linear()[v];
        const auto to = energy_.neighbours(v);
        const auto interaction = energy_.interactions(v);
        field_[v] = 0.5 * linear;
        constant_ += 0.5 * linear;
        magnitude_ += std::abs(linear);
        for (std::size_t k = 0; k < to.size(); ++k) {
            matrix_[v * n_ + static_cast<std::size_t>(to[k])] = interaction[k] / 8;
            field_[v] += interaction[k] / 4;
            constant_ += interaction[k] / 8;
            magnitude_ += std::abs(interaction[k]);
        }
    }
}

void DiagonalBound::start(double cutoff, double seconds, std::size_t open, bool keep) {
    read();
    cutoff_ = cutoff;
    open_ = open;
    nodes_ = 0;
    better_.clear();
    tree_ = keep ? std::make_unique<SignTree>() : nullptr;
    is_whole_ = false;
    Node root;
    if (tree_) root.number = tree_->add();
    root.free.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) root.free[i] = static_cast<std::int32_t>(i);
    root.field = field_;
    root.fixed.assign(n_, 0);
    root.s.assign(n_, 0.0);
    root.constant = constant_;
    root.tuning = root_;
    tune(root, seconds > 0 ? sharp(seconds) : root_precision);
    root_ = root.tuning;
    measure(root);
    settle(root);
    heap_.clear(), stack_.clear();
    push(std::move(root));
}

void DiagonalBound::tune(Node& node, Precision precision) {
    const std::size_t m = node.free.size();
    std::vector<double> matrix(m * m);
    for (std::size_t a = 0; a < m; ++a)
        for (std::size_t b = 0; b < m; ++b)
            matrix[a * m + b] = row(node.free[a])[static_cast<std::size_t>(node.free[b])];
    auto tuning =
        std::make_shared<Tuning>(node.tuning ? *node.tuning : Tuning{{}, Vectors::random(n_, random_.next())});
    Vectors own{tuning->vectors.width, {}};
    const auto width = static_cast<std::ptrdiff_t>(own.width);
    own.values.assign(tuning->vectors.row(0), tuning->vectors.row(0) + width);
    for (const std::int32_t i : node.free) {
        const double* vector = tuning->vectors.row(static_cast<std::size_t>(i) + 1);
        own.values.insert(own.values.end(), vector, vector + width);
    }
    const std::vector<double> y = best_diagonal(matrix, node.field, precision, own, shift_);
    tuning->y.assign(n_, 0.0);
    if (tree_) tree_->begin_form(node.number, node.fixed, y);
    std::copy_n(own.row(0), width, tuning->vectors.row(0));
    for (std::size_t a = 0; a < m; ++a) {
        const auto i = static_cast<std::size_t>(node.free[a]);
        tuning->y[i] = y[a];
        std::copy_n(own.row(a + 1), width, tuning->vectors.row(i + 1));
    }
    node.tuning = std::move(tuning);
    node.gradient.assign(m, 0.0);
    for (std::size_t a = 0; a < m; ++a) {
        double sum = -y[a] * node.s[a];
        for (std::size_t b = 0; b < m; ++b) sum += matrix[a * m + b] * node.s[b];
        node.gradient[a] = node.field[a] + 2 * sum;
    }
}

// The bound that the tangent at s gives over the box, valid at any s. With D = diag(y) the form
//     F(s) = constant + sum(y) + field s + s' (A - D) s,   g = field + 2 (A - D) s,
// equals the energy at signs, and F(s) = constant + sum(y) + (field + g) s / 2. As F is convex, any sign vector t has
//     F(t) >= F(s) + g (t - s) >= F(s) - g s - sum |g|.
void DiagonalBound::measure(Node& node) const {
    double bound = node.constant;
    for (std::size_t a = 0; a < node.free.size(); ++a) {
        const double g = node.gradient[a];
        bound += node.tuning->y[static_cast<std::size_t>(node.free[a])] + 0.5 * (node.field[a] + g) * node.s[a] -
                 (g * node.s[a] + std::abs(g));
    }
    node.measured = bound - safety();
    node.bound = std::max(node.bound, node.measured);
}

// Coordinate descent on the box; true once the bound reaches the cutoff.
bool DiagonalBound::settle(Node& node) const {
    const std::size_t m = node.free.size();
    for (int sweep = 0; sweep < most_sweeps && node.bound < cutoff_; ++sweep) {
        for (std::size_t a = 0; a < m; ++a) {
            const std::int32_t i = node.free[a];
            const double curvature = -2 * node.tuning->y[static_cast<std::size_t>(i)], g = node.gradient[a];
            double to = curvature > 0 ? std::clamp(node.s[a] - g / curvature, -1.0, 1.0) : (g > 0 ? -1.0 : 1.0);
            if (tree_) to = std::nearbyint(to * SignTree::grid) / SignTree::grid;
            const double twice = 2 * (to - node.s[a]);
            if (twice == 0) continue;
            const double* entries = row(i);
            for (std::size_t b = 0; b < m; ++b) node.gradient[b] += twice * entries[node.free[b]];
            node.gradient[a] += curvature * (to - node.s[a]);
            node.s[a] = to;
        }
        const double before = node.bound;
        measure(node);
        if (node.bound - before < worth_it * (cutoff_ - node.bound) && sweep > 0) break;
    }
    return node.bound >= cutoff_;
}

void DiagonalBound::fix(Node& node, std::size_t at, int side) const {
    const std::int32_t i = node.free[at];
    const double* entries = row(i);
    const double moved = side - node.s[at];
    for (std::size_t b = 0; b < node.free.size(); ++b) {
        const double entry = entries[node.free[b]];
        node.field[b] += 2 * entry * side;
        node.gradient[b] += 2 * entry * moved;
    }
    node.constant += node.field[at] * side;
    node.fixed[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(side);
    const auto place = static_cast<std::ptrdiff_t>(at);
    node.free.erase(node.free.begin() + place);
    node.field.erase(node.field.begin() + place);
    node.gradient.erase(node.gradient.begin() + place);
    node.s.erase(node.s.begin() + place);
}

// Fixes variables by their reduced cost: where s_a = -sign(g_a), the other sign raises the bound of the tangent by
// 2 |g_a|, and past the cutoff it is ruled out.
void DiagonalBound::narrow(Node& node) {
    for (std::size_t a = node.free.size(); a-- > 0;) {
        if (std::abs(node.s[a]) < 1 || node.measured + 2 * std::abs(node.gradient[a]) < cutoff_) continue;
        if (!(node.gradient[a] * node.s[a] < 0)) continue;
        const int side = node.s[a] > 0 ? 1 : -1;
        if (tree_) {
            keep_point(node);
            tree_->narrow(node.number, node.free[a], side);
        }
        fix(node, a, side);
    }
}

// Keeps s as the point of a node.
void DiagonalBound::keep_point(const Node& node) {
    std::vector<std::int16_t> point;
    point.reserve(node.s.size());
    for (const double s : node.s) point.push_back(static_cast<std::int16_t>(std::lround(s * SignTree::grid)));
    tree_->set_point(node.number, point);
}

// Notes the world that s rounds to, if it is below the cutoff.
void DiagonalBound::look(const Node& node) {
    double value = node.constant;
    for (std::size_t a = 0; a < node.free.size(); ++a) {
        const double* entries = row(node.free[a]);
        double pull = node.field[a];
        for (std::size_t b = 0; b < node.free.size(); ++b)
            pull += node.s[b] > 0 ? entries[node.free[b]] : -entries[node.free[b]];
        value += node.s[a] > 0 ? pull : -pull;
    }
    if (value >= cutoff_ + safety()) return;
    World world(n_);
    for (std::size_t v = 0; v < n_; ++v) world[v] = node.fixed[v] > 0;
    for (std::size_t a = 0; a < node.free.size(); ++a) world[static_cast<std::size_t>(node.free[a])] = node.s[a] > 0;
    if (energy_.value(world) >= cutoff_) return;
    if (std::find(better_.begin(), better_.end(), world) != better_.end()) return;
    if (better_.empty()) enough_ = 2 * nodes_ + patience;
    better_.push_back(std::move(world));
}

// Branches on the variable that adds most to the difference of energy and convex form at s, the sum of -y_a (1 -
// s_a^2).
void DiagonalBound::branch(Node& node) {
    std::size_t chosen = 0;
    double most = -1;
    for (std::size_t a = 0; a < node.free.size(); ++a) {
        const double d = -node.tuning->y[static_cast<std::size_t>(node.free[a])] * (1 - node.s[a] * node.s[a]);
        if (d > most) most = d, chosen = a;
    }
    const int near = node.s[chosen] > 0 ? 1 : -1;
    Node far = node;
    if (tree_) {
        const std::int32_t lower = tree_->add(), upper = tree_->add();
        tree_->split(node.number, node.free[chosen], lower, upper);
        node.number = near > 0 ? upper : lower, far.number = near > 0 ? lower : upper;
    }
    ++far.depth;
    fix(far, chosen, -near);
    ++node.depth;
    fix(node, chosen, near);
    push(std::move(far));
    push(std::move(node));
}

void DiagonalBound::push(Node&& node) {
    const bool full = heap_.size() >= open_ || !stack_.empty();
    (full ? stack_ : heap_).push_back(std::move(node));
    if (!full)
        std::push_heap(heap_.begin(), heap_.end(), [](const Node& a, const Node& b) { return a.bound > b.bound; });
}

DiagonalBound::Node DiagonalBound::pop() {
    if (stack_.empty())
        std::pop_heap(heap_.begin(), heap_.end(), [](const Node& a, const Node& b) { return a.bound > b.bound; });
    auto& from = stack_.empty() ? heap_ : stack_;
    Node node = std::move(from.back());
    from.pop_back();
    return node;
}

// Bounds a node; false if it contains nothing below the cutoff except noted worlds.
bool DiagonalBound::expand(Node& node) {
    if (node.depth > 0 && node.depth % (tree_ ? retune_kept : retune_every) == 0 && !node.free.empty())
        tune(node, node_precision);
    measure(node);
    if (settle(node)) {
        if (tree_) keep_point(node);
        return false;
    }
    look(node);
    narrow(node);
    if (!node.free.empty()) return true;
    look(node);
    if (tree_) keep_point(node);
    return false;
}

DiagonalBound::Outcome DiagonalBound::run(Deadline deadline, std::size_t nodes) {
    for (int step = 1; !heap_.empty() || !stack_.empty(); ++step) {
        if (!better_.empty() && nodes_ >= enough_) return Outcome::better;
        if (nodes_ >= nodes || (step % between_clocks == 0 && has_passed(deadline))) return Outcome::unfinished;
        Node node = pop();
        ++nodes_;
        if (tree_ && tree_->is_cut()) tree_.reset();
        if (expand(node)) branch(node);
    }
    is_whole_ = better_.empty();
    return is_whole_ ? Outcome::proved : Outcome::better;
}

double DiagonalBound::bound() const {
    double least = cutoff_;
    for (const World& world : better_) least = std::min(least, energy_.value(world));
    if (!heap_.empty()) least = std::min(least, heap_.front().bound);
    for (const Node& node : stack_) least = std::min(least, node.bound);
    return least;
}

}  // namespace coherently
