#include "coherently/worlds/space.hpp"

#include <algorithm>
#include <utility>

namespace coherently {

BlockKind kind_of(const Block& block) {
    const std::size_t size = block.variables.size();
    std::size_t none = 0, one = 0;
    bool chain = block.size() == size + 1;
    for (std::size_t s = 0; s < block.size(); ++s) {
        const auto row = block.states.begin() + static_cast<std::ptrdiff_t>(s * size);
        const auto count = std::count(row, row + static_cast<std::ptrdiff_t>(size), 1);
        none += count == 0, one += count == 1;
        for (std::size_t k = 0; k < size; ++k) chain = chain && block.value(s, k) == (k >= s);
    }
    if (chain) return BlockKind::chain;
    if (one != size || none > 1 || one + none != block.size()) return BlockKind::other;
    return none ? BlockKind::at_most : BlockKind::one;
}

Space::Space(std::size_t n_variables, std::vector<Block> blocks, Functions laws, std::vector<std::uint8_t> truth)
    : n_variables_(n_variables), blocks_(std::move(blocks)), laws_(std::move(laws)), truth_(std::move(truth)) {}

bool Space::obeys(const World& world, std::size_t law) const {
    const LargeEvent function = function_of(laws(), law);
    return function.holds(function.row(world)) == truth(law);
}

bool Space::allows(const World& world) const {
    World own;
    for (const Block& block : blocks_) {
        own.clear();
        for (const std::int32_t v : block.variables) own.push_back(world[static_cast<std::size_t>(v)]);
        bool found = false;
        for (auto row = block.states.begin(); !found && row != block.states.end();
             row += static_cast<std::ptrdiff_t>(own.size()))
            found = std::equal(own.begin(), own.end(), row);
        if (!found) return false;
    }
    for (std::size_t law = 0; law < truth_.size(); ++law)
        if (!obeys(world, law)) return false;
    return true;
}

Nodes::Nodes(const Space& space) : space_(space), node_(space.n_variables(), -1), position_(space.n_variables()) {
    for (const Block& block : space.blocks()) {
        for (std::size_t k = 0; k < block.variables.size(); ++k) {
            const auto v = static_cast<std::size_t>(block.variables[k]);
            node_[v] = static_cast<std::int32_t>(states_.size()), position_[v] = k;
        }
        states_.push_back(block.size());
        alone_.push_back(-1);
    }
    for (std::size_t v = 0; v < node_.size(); ++v) {
        if (node_[v] >= 0) continue;
        node_[v] = static_cast<std::int32_t>(states_.size());
        states_.push_back(2);
        alone_.push_back(static_cast<std::int32_t>(v));
    }
}

std::vector<std::int32_t> Nodes::touched(std::span<const std::int32_t> variables) const {
    std::vector<std::int32_t> found;
    for (const std::int32_t v : variables) found.push_back(of(v));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void Nodes::put(std::size_t node, std::size_t state, World& world) const {
    if (alone_[node] >= 0) {
        world[static_cast<std::size_t>(alone_[node])] = static_cast<std::uint8_t>(state);
        return;
    }
    const Block& block = space_.blocks()[node];
    for (std::size_t k = 0; k < block.variables.size(); ++k)
        world[static_cast<std::size_t>(block.variables[k])] = block.value(state, k);
}

}  // namespace coherently
