#include "coherently/language/mentions.hpp"

#include "coherently/language/printer.hpp"

namespace coherently {

const std::vector<std::int32_t>& Mentions::read(std::string_view text, const Alphabet& alphabet,
                                                std::size_t max_characters) {
    names_.clear();
    read_.clear();
    parse(text, alphabet, max_characters, *this, formula_);
    for (const Step& step : formula_.steps) {
        if (step.op == Op::variable)
            read_.push_back(number({std::move(names_[static_cast<std::size_t>(step.value)]), {}}));
        if (step.op != Op::comparison) continue;
        Comparison& comparison = formula_.comparisons[static_cast<std::size_t>(step.value)];
        Mention mention{std::move(comparison.name), {relation_text(comparison.relation)}};
        for (std::string& value : comparison.values) mention.compared.push_back(std::move(value));
        read_.push_back(number(std::move(mention)));
    }
    return read_;
}

std::int32_t Mentions::resolve(std::string_view name) {
    names_.emplace_back(name);
    return static_cast<std::int32_t>(names_.size()) - 1;
}

std::int32_t Mentions::number(Mention&& mention) {
    std::string key = std::to_string(mention.name.size()) + ' ' + mention.name;  // whatever characters parts have
    for (const std::string& part : mention.compared) key += std::to_string(part.size()) + ' ' + part;
    const auto [place, is_new] = numbers_.try_emplace(std::move(key), static_cast<std::int32_t>(found_.size()));
    if (is_new) found_.push_back(std::move(mention));
    return place->second;
}

}  // namespace coherently
