#include "coherently/tables/tally.hpp"

#include <cmath>
#include <stdexcept>

namespace coherently {

void Tally::add(std::span<const std::int32_t> codes, std::span<const double> probability, std::span<const double> given,
                std::span<const std::int64_t> rows) {
    if (probability.size() != codes.size() || rows.size() != codes.size() ||
        (!given.empty() && given.size() != codes.size()))
        throw std::invalid_argument("expected one probability, weight and row for each text");
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] < 0) throw std::invalid_argument("expected the number of an event for each forecast");
        const auto text = static_cast<std::size_t>(codes[i]);
        if (text >= count.size()) {
            count.resize(text + 1, 0);
            first.resize(text + 1, -1);
            weight.resize(text + 1, 0.0);
            product.resize(text + 1, 0.0);
            square.resize(text + 1, 0.0);
        }
        if (first[text] < 0) first[text] = rows[i];
        if (std::isnan(probability[i])) continue;
        ++count[text];
        const double w = given.empty() ? 1.0 : given[i];
        weight[text] += w;
        product[text] += w * probability[i];
        square[text] += w * probability[i] * probability[i];
    }
}

}  // namespace coherently
