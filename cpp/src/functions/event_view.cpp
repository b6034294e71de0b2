#include "coherently/functions/event_view.hpp"

namespace coherently {

void Functions::add(std::span<const std::int32_t> own, std::span<const std::uint64_t> table) {
    variables.insert(variables.end(), own.begin(), own.end());
    words.insert(words.end(), table.begin(), table.end());
    starts.push_back(static_cast<std::int64_t>(variables.size()));
    word_starts.push_back(static_cast<std::int64_t>(words.size()));
}

}  // namespace coherently
