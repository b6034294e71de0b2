#include "coherently/functions/event_view.hpp"

namespace coherently {

void Functions::add(std::span<const std::int32_t> own, std::span<const std::uint64_t> table) {
    variables.insert(variables.end(), own.begin(), own.end());
    words.insert(words.end(), table.begin(), table.end());
    starts.push_back(static_cast<std::int64_t>(variables.size()));
    word_starts.push_back(static_cast<std::int64_t>(words.size()));
}

void evaluate(const EventView& functions, std::span<const std::uint8_t> worlds, std::span<std::uint8_t> truth) {
    const std::size_t n = functions.n_variables, m = functions.size(), count = m > 0 ? truth.size() / m : 0;
    for (std::size_t j = 0; j < m; ++j) {
        const LargeEvent function = function_of(functions, j);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t* world = worlds.data() + i * n;
            std::uint32_t row = 0;
            for (std::size_t k = 0; k < function.variables.size(); ++k)
                row += function.part(k, world[function.variables[k]]);
            truth[i * m + j] = function.holds(row);
        }
    }
}

}  // namespace coherently
