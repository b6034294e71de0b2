#include "coherently/functions/exclusions.hpp"

namespace coherently {

Exclusions triple_exclusions(std::span<const std::uint64_t> truth, std::size_t events, std::size_t worlds) {
    const std::size_t words = (worlds + 63) / 64, literals = 2 * events;
    // Each literal as a row of its own, complements after all events.
    std::vector<std::uint64_t> row(literals * words);
    const std::uint64_t last = worlds % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << worlds % 64) - 1;
    for (std::size_t i = 0; i < events * words; ++i) {
        row[i] = truth[i];
        row[events * words + i] = ~truth[i] & (i % words + 1 == words ? last : ~std::uint64_t{0});
    }
    std::vector<std::uint8_t> meets(literals * literals);
    for (std::size_t a = 0; a < literals; ++a)
        for (std::size_t b = 0; b < literals; ++b)
            for (std::size_t w = 0; w < words && meets[a * literals + b] == 0; ++w)
                meets[a * literals + b] = (row[a * words + w] & row[b * words + w]) != 0;

    Exclusions found;
    std::vector<std::uint64_t> both(words);
    for (std::size_t a = 0; a < literals; ++a) {
        for (std::size_t b = 0; b < literals; ++b) {
            if (b % events <= a % events) continue;
            const bool meet = meets[a * literals + b] != 0;
            for (std::size_t w = 0; w < words; ++w) both[w] = row[a * words + w] & row[b * words + w];
            for (std::size_t c = 0; c < literals; ++c) {
                if (c % events <= b % events) continue;
                const bool with_a = meets[a * literals + c] != 0, with_b = meets[b * literals + c] != 0;
                const std::array<std::int64_t, 3> three{static_cast<std::int64_t>(a), static_cast<std::int64_t>(b),
                                                        static_cast<std::int64_t>(c)};
                if (!meet && !with_a && !with_b) found.ones.push_back(three);
                if (!meet || !with_a || !with_b) continue;
                bool together = false;
                for (std::size_t w = 0; w < words && !together; ++w) together = (both[w] & row[c * words + w]) != 0;
                if (!together) found.threes.push_back(three);
            }
        }
    }
    return found;
}

}  // namespace coherently
