// What follows from facts: questions that have one truth in every world where all facts hold.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coherently/functions/event_view.hpp"
#include "coherently/functions/satisfaction.hpp"

namespace coherently {

struct Entailment {
    static constexpr std::int8_t open = -1, undecided = -2;

    bool impossible = false;          // no world has all facts; then there are no answers
    std::size_t undecided_facts = 0;  // of parts for which no world was found in time, nor the proof that there is none
    std::vector<std::int8_t> answers;  // to each question: 1 or 0 if that follows, `open` if not, or `undecided`
};

// Fact j is true if and only if truth[j] is. Propagation comes first; it cuts facts and questions into parts that share
// no free variable. A part of more than `max_conflicts` conflicts is left undecided. `pause` is called now and then.
Entailment entail(const EventView& facts, std::span<const std::uint8_t> truth, const EventView& questions,
                  const ChoiceView& choices, std::size_t max_conflicts, const std::function<void()>& pause);

}  // namespace coherently
