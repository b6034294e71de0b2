#include "browser/logic.hpp"

#include <algorithm>
#include <numeric>

#include "coherently/functions/components.hpp"
#include "coherently/functions/satisfaction.hpp"

namespace coherently::browser {
namespace {

constexpr std::size_t steps = std::size_t{1} << 20;  // of satisfaction at a time

// Whether a side is true in a world; `place` has the column of each variable.
bool holds(const EventTable& table, std::int32_t side, std::span<const std::int32_t> place,
           std::span<const std::uint8_t> world) {
    const Function function = table.function(side >> 1);
    const LargeEvent event{0, function.variables, function.words, function.kind == FunctionKind::count};
    std::uint32_t row = 0;
    for (std::size_t i = 0; i < function.variables.size(); ++i)
        row += event.part(i, world[static_cast<std::size_t>(place[static_cast<std::size_t>(function.variables[i])])]);
    return event.holds(row) != ((side & 1) != 0);
}

// The column of each variable of a list; -1 for others.
std::vector<std::int32_t> places(const EventTable& table, std::span<const std::int32_t> variables) {
    std::vector<std::int32_t> place(table.names().size(), -1);
    for (std::size_t i = 0; i < variables.size(); ++i)
        place[static_cast<std::size_t>(variables[i])] = static_cast<std::int32_t>(i);
    return place;
}

}  // namespace

// The states of declared variables: each threshold of a quantity implies the next, and a named variable has one value.
std::vector<Block> Logic::choices() const {
    std::vector<Block> blocks;
    for (const Declaration& declared : table.names().declarations()) {
        const std::size_t size = declared.atoms.size();
        if (size == 0) continue;
        Block block;
        for (const auto& [cut, atom] : declared.atoms) block.variables.push_back(atom);
        const bool ordered = declared.kind != DeclaredKind::named, complete = size == declared.values.size();
        for (std::size_t state = 0; state < size + (ordered || !complete); ++state)
            for (std::size_t i = 0; i < size; ++i) block.states.push_back(ordered ? i >= state : i == state);
        blocks.push_back(std::move(block));
    }
    return blocks;
}

bool Logic::have_world(std::span<const std::size_t> some) const {
    Functions functions;
    std::vector<std::uint8_t> truth, ordered, complete;
    for (const std::size_t law : some) {
        const Function function = table.function(laws[law] >> 1);
        functions.add(function.variables, function.words);
        truth.push_back((laws[law] & 1) == 0);
    }
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> atoms;
    for (const Block& block : choices()) {
        const BlockKind kind = kind_of(block);
        atoms.insert(atoms.end(), block.variables.begin(), block.variables.end());
        starts.push_back(static_cast<std::int64_t>(atoms.size()));
        ordered.push_back(kind == BlockKind::chain), complete.push_back(kind == BlockKind::one);
    }
    Satisfaction search(functions.view(table.names().size()), truth, {starts, atoms, ordered, complete});
    auto answer = Satisfaction::Answer::open;
    while (answer == Satisfaction::Answer::open) answer = search.run(steps);
    return answer == Satisfaction::Answer::satisfied;
}

std::vector<std::size_t> Logic::conflict() const {
    std::vector<std::size_t> kept(laws.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    if (have_world(kept)) return {};
    for (std::size_t i = 0; i < kept.size();) {
        std::vector<std::size_t> fewer = kept;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (have_world(fewer)) ++i;
        else kept = std::move(fewer);
    }
    return kept;
}

Connected Logic::connect(const std::vector<std::vector<std::int32_t>>& rows) const {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> members;
    const auto add = [&](std::span<const std::int32_t> row) {
        members.insert(members.end(), row.begin(), row.end());
        starts.push_back(static_cast<std::int64_t>(members.size()));
    };
    for (const auto& row : rows) add(row);
    for (const std::int32_t law : laws) add(variables_of(law));
    for (const Block& block : choices()) add(block.variables);
    Connected found{connected_rows(starts, members, table.names().size()), {}};
    for (std::size_t i = 0; i < found.label.size(); ++i) {
        const auto own = static_cast<std::size_t>(found.label[i]);
        if (found.variables.size() <= own) found.variables.resize(own + 1);
        found.variables[own].insert(found.variables[own].end(), members.begin() + starts[i],
                                    members.begin() + starts[i + 1]);
    }
    for (auto& own : found.variables) {
        std::sort(own.begin(), own.end());
        own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    found.label.resize(rows.size());
    return found;
}

// One variable, or one declared variable, after the other; a law is looked at once all of its variables have values.
bool Logic::list(std::vector<std::int32_t> variables, WorldList& worlds) const {
    const auto place = places(table, variables);
    const std::size_t width = variables.size();
    worlds = {std::move(variables), std::vector<std::uint8_t>(width, 0), 1};
    std::vector<Block> blocks(width);  // what is decided with each variable; nothing if it is decided already
    std::vector<std::uint8_t> later(width, 0), known(width, 0);
    for (std::size_t v = 0; v < width; ++v) blocks[v] = {{worlds.variables[v]}, {0, 1}};
    for (Block& block : choices()) {
        if (place[static_cast<std::size_t>(block.variables[0])] < 0) continue;
        std::size_t first = width;
        for (const std::int32_t atom : block.variables) {
            const auto own = static_cast<std::size_t>(place[static_cast<std::size_t>(atom)]);
            first = std::min(first, own), later[own] = 1;
        }
        later[first] = 0, blocks[first] = std::move(block);
    }
    std::vector<std::int32_t> waiting;
    for (const std::int32_t law : laws)
        if (const auto own = variables_of(law); !own.empty() && place[static_cast<std::size_t>(own[0])] >= 0)
            waiting.push_back(law);
    for (std::size_t v = 0; v < width; ++v) {
        if (later[v]) continue;
        const Block& block = blocks[v];
        if (worlds.count * block.size() > most_states) return false;
        std::vector<std::uint8_t> grown;
        for (std::size_t i = 0; i < worlds.count; ++i)
            for (std::size_t state = 0; state < block.size(); ++state) {
                grown.insert(grown.end(), worlds.row(i).begin(), worlds.row(i).end());
                for (std::size_t k = 0; k < block.variables.size(); ++k) {
                    const auto own = static_cast<std::size_t>(place[static_cast<std::size_t>(block.variables[k])]);
                    grown[grown.size() - width + own] = block.value(state, k), known[own] = 1;
                }
            }
        worlds.truth = std::move(grown), worlds.count *= block.size();
        std::erase_if(waiting, [&](std::int32_t law) {
            for (const std::int32_t one : variables_of(law))
                if (!known[static_cast<std::size_t>(place[static_cast<std::size_t>(one)])]) return false;
            std::size_t kept = 0;
            for (std::size_t i = 0; i < worlds.count; ++i) {
                if (!holds(table, law, place, worlds.row(i))) continue;
                std::copy_n(worlds.truth.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                            worlds.truth.begin() + static_cast<std::ptrdiff_t>(kept++ * width));
            }
            worlds.count = kept, worlds.truth.resize(kept * width);
            return true;
        });
    }
    return true;
}

std::vector<std::uint8_t> Logic::truth(const WorldList& worlds, std::span<const std::int32_t> sides) const {
    const auto place = places(table, worlds.variables);
    std::vector<std::uint8_t> found;
    found.reserve(worlds.count * sides.size());
    for (std::size_t i = 0; i < worlds.count; ++i)
        for (const std::int32_t side : sides) found.push_back(holds(table, side, place, worlds.row(i)));
    return found;
}

}  // namespace coherently::browser
