#include <algorithm>
#include <cmath>

#include "coherently/functions/boolean_function.hpp"
#include "coherently/functions/satisfaction.hpp"
#include "coherently/worlds/elimination/space_elimination.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently {
namespace {

constexpr double most_states = 1 << 20;
constexpr std::size_t steps = std::size_t{1} << 20;  // of satisfaction at a time

// The laws and blocks of a space in the form of satisfaction.
struct Question {
    Functions functions;
    std::vector<std::uint8_t> truth, ordered, complete;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> atoms;

    ChoiceView choices() const { return {starts, atoms, ordered, complete}; }

    // False if a block has an unknown kind.
    bool add(const Block& block) {
        const std::size_t size = block.variables.size();
        const BlockKind kind = kind_of(block);
        if (kind != BlockKind::other) {
            atoms.insert(atoms.end(), block.variables.begin(), block.variables.end());
            starts.push_back(static_cast<std::int64_t>(atoms.size()));
            ordered.push_back(kind == BlockKind::chain), complete.push_back(kind == BlockKind::one);
            return true;
        }
        if (size > max_table_variables) return false;
        std::vector<std::uint64_t> table(table_words(size));
        for (std::size_t s = 0; s < block.size(); ++s) {
            std::size_t row = 0;
            for (std::size_t k = 0; k < size; ++k) row |= std::size_t{block.value(s, k)} << k;
            table[row / 64] |= std::uint64_t{1} << (row % 64);
        }
        functions.add(block.variables, table), truth.push_back(1);
        return true;
    }
};

}  // namespace

bool find_witness(Space& space) {
    if (!space.witness().empty()) return true;
    const Functions none;
    const EventView nothing = none.view(space.n_variables());
    if (std::isfinite(SpaceElimination::cost(nothing, space, most_states))) {
        space.set_witness(SpaceElimination(nothing, space).minimise({}));
        return true;
    }
    Question question;
    const EventView laws = space.laws();
    for (std::size_t law = 0; law < laws.size(); ++law) {
        if (laws.variables_of(law).empty() && space.truth(law)) throw Contradiction();
        if (laws.variables_of(law).empty()) continue;
        question.functions.add(laws.variables_of(law), laws.words_of(law));
        question.truth.push_back(space.truth(law));
    }
    for (const Block& block : space.blocks())
        if (!question.add(block)) return false;
    const EventView functions = question.functions.view(space.n_variables());
    Satisfaction satisfaction(functions, question.truth, question.choices());
    auto answer = Satisfaction::Answer::open;
    while (answer == Satisfaction::Answer::open) answer = satisfaction.run(steps);
    if (answer == Satisfaction::Answer::impossible) throw Contradiction();
    space.set_witness(satisfaction.world());
    return true;
}

}  // namespace coherently
