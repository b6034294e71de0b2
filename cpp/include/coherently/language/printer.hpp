// From a formula back to text that parses to the same formula.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "coherently/language/parser.hpp"

namespace coherently {

// The relation of a comparison, as it is written.
const char* relation_text(TokenKind relation);

// The name as it must be written in an event: quoted where it is reserved or not a plain name.
std::string write_name(std::string_view name, const Alphabet& alphabet);

// A value of a comparison likewise.
std::string write_value(std::string_view value, const Alphabet& alphabet);

// `compact` leaves out white space and never prints more characters than the formula was read from.
std::string print(const Formula& formula, const std::function<std::string_view(std::int32_t)>& name_of,
                  const Alphabet& alphabet, bool compact);

}  // namespace coherently
