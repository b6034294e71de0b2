// Functions whose arrays the core keeps for itself; kernels hold them by a shared pointer, so that none is copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "arrays.hpp"
#include "coherently/functions/event_view.hpp"
#include "coherently/worlds/space.hpp"

namespace coherently::bindings {

struct FunctionsHandle {
    std::size_t n_variables;
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> variables;
    std::vector<std::int64_t> word_starts;
    std::vector<std::uint64_t> words;

    FunctionsHandle(std::size_t n, Vector<std::int64_t> s, Vector<std::int32_t> v, Vector<std::int64_t> ws,
                    Vector<std::uint64_t> w)
        : n_variables(n), starts(copy(s)), variables(copy(v)), word_starts(copy(ws)), words(copy(w)) {
        if (starts.empty() || starts.size() != word_starts.size() ||
            static_cast<std::size_t>(starts.back()) != variables.size() ||
            static_cast<std::size_t>(word_starts.back()) != words.size())
            throw nb::value_error("arrays differ in length");
        for (const auto* rows : {&starts, &word_starts})
            if (rows->front() != 0 || !std::is_sorted(rows->begin(), rows->end()))
                throw nb::value_error("starts must ascend from 0");
        for (const std::int32_t variable : variables)
            if (variable < 0 || static_cast<std::size_t>(variable) >= n)
                throw nb::index_error("a variable is out of range");
        for (std::size_t j = 0; j < size(); ++j) {
            const auto own = static_cast<std::size_t>(starts[j + 1] - starts[j]);
            const std::size_t needed =
                own <= max_table_variables ? table_words(own) : words_for(own) + words_for(own + 1);
            if (static_cast<std::size_t>(word_starts[j + 1] - word_starts[j]) != needed)
                throw nb::value_error("a function has the wrong number of words");
        }
    }
    std::size_t size() const { return starts.size() - 1; }
    EventView view() const { return {n_variables, starts, variables, word_starts, words}; }
};

using SharedFunctions = std::shared_ptr<FunctionsHandle>;

// A space must have the same variables and a witness.
inline void check_space(const Space* space, std::size_t n_variables) {
    if (space && space->n_variables() != n_variables) throw nb::value_error("arrays differ in length");
    if (space && space->witness().empty() && n_variables > 0) throw nb::value_error("the space has no witness");
}

// One row per world.
inline NewArray<std::uint8_t> stack(const std::vector<World>& worlds, std::size_t n_variables) {
    std::vector<std::uint8_t> rows;
    for (const World& world : worlds) rows.insert(rows.end(), world.begin(), world.end());
    return give(std::move(rows), {worlds.size(), n_variables});
}

}  // namespace coherently::bindings
