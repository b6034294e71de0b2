#include "coherently/worlds/branch/sign_tree.hpp"

#include <utility>

namespace coherently {
namespace {

enum Code : std::uint8_t { first_lower = 0, first_upper = 1, leaf = 2, point = 3, form = 4 };

void put_two(std::vector<std::uint8_t>& bytes, unsigned value) {
    bytes.push_back(static_cast<std::uint8_t>(value & 255));
    bytes.push_back(static_cast<std::uint8_t>(value >> 8 & 255));
}

}  // namespace

std::int32_t SignTree::add() {
    nodes_.emplace_back();
    cut_ = cut_ || nodes_.size() >= most_entries / 16;
    return static_cast<std::int32_t>(nodes_.size() - 1);
}

void SignTree::begin_form(std::int32_t node, std::span<const std::int8_t> fixed, std::span<const double> y) {
    nodes_[static_cast<std::size_t>(node)].form = static_cast<std::int32_t>(forms_.size());
    forms_.push_back({{fixed.begin(), fixed.end()}, {y.begin(), y.end()}});
}

void SignTree::split(std::int32_t node, std::int32_t variable, std::int32_t lower, std::int32_t upper) {
    Visited& visited = nodes_[static_cast<std::size_t>(node)];
    visited.variable = variable, visited.lower = lower, visited.upper = upper;
}

void SignTree::narrow(std::int32_t node, std::int32_t variable, int side) {
    Visited& visited = nodes_[static_cast<std::size_t>(node)];
    if (visited.narrowings++ == 0) visited.narrowed = narrowed_.size();
    narrowed_.push_back({variable, static_cast<std::int8_t>(side)});
}

void SignTree::set_point(std::int32_t node, std::span<const std::int16_t> point) {
    Visited& visited = nodes_[static_cast<std::size_t>(node)];
    if (std::exchange(visited.has_point, true)) return;
    visited.point = points_.size(), visited.entries = static_cast<std::uint32_t>(point.size());
    points_.insert(points_.end(), point.begin(), point.end());
    cut_ = cut_ || points_.size() >= most_entries;
}

SignTree::Written SignTree::written() const {
    Written found;
    auto& bytes = found.bytes;
    std::vector<std::int32_t> waiting{0};
    while (!waiting.empty()) {
        const Visited& node = nodes_[static_cast<std::size_t>(waiting.back())];
        waiting.pop_back();
        if (node.form != none) {
            bytes.push_back(form);
            found.forms.push_back(static_cast<std::int64_t>(bytes.size()));
            found.form.push_back(node.form);
        }
        if (node.has_point) bytes.push_back(Code::point);
        for (std::size_t k = 0; k < node.entries; ++k)
            put_two(bytes, static_cast<std::uint16_t>(points_[node.point + k]));
        for (std::size_t k = 0; k < node.narrowings; ++k) {
            const Narrowing& one = narrowed_[node.narrowed + k];
            bytes.push_back(one.side < 0 ? first_upper : first_lower);
            put_two(bytes, static_cast<unsigned>(one.variable));
            bytes.push_back(leaf);
        }
        if (node.variable == none) {
            bytes.push_back(leaf);
            continue;
        }
        bytes.push_back(first_lower);
        put_two(bytes, static_cast<unsigned>(node.variable));
        waiting.push_back(node.upper);
        waiting.push_back(node.lower);
    }
    return found;
}

}  // namespace coherently
