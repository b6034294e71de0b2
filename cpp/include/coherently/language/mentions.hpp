// What texts say about variables, each once and in the order of appearance.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coherently/language/parser.hpp"

namespace coherently {

// A plain variable, or a comparison: then `compared` is its relation, as written, and its values.
struct Mention {
    std::string name;
    std::vector<std::string> compared;
};

class Mentions final : public Resolver {
public:
    // The mentions in one more text, by their numbers, as often as they appear. Throws TextError.
    const std::vector<std::int32_t>& read(std::string_view text, const Alphabet& alphabet, std::size_t max_characters);
    const std::vector<Mention>& found() const { return found_; }

    // The place of a name in its text: a variable that appears twice has two.
    std::int32_t resolve(std::string_view name) override;
    const Declaration* declaration(std::string_view) const override { return nullptr; }
    std::int32_t atom(const Declaration&, const Cut&) override { return -1; }

private:
    std::int32_t number(Mention&& mention);

    std::vector<Mention> found_;
    std::unordered_map<std::string, std::int32_t> numbers_;
    std::vector<std::string> names_;
    std::vector<std::int32_t> read_;
    Formula formula_;
};

}  // namespace coherently
