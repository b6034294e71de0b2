// A panel as the page sends it: a table of forecasts, statements of laws and an event that is asked about.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "browser/answer.hpp"

namespace coherently::browser {

inline constexpr std::size_t most_forecasts = 2000;

// A fault of the input, which the user can correct; the message says where it is.
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The text that is being read, for messages about it.
struct Reading {
    std::string place;
    std::string_view text;
};
const Reading& reading();

struct Row {
    std::size_t judge, event;  // numbers of both
    double probability;
};

class PanelText {
public:
    Logic logic;
    Alphabet alphabet;
    std::vector<std::string> judges;
    std::vector<std::string> events;  // texts of the same meaning are one event, as it was written first
    std::vector<Sides> sides;         // of the events
    std::vector<Row> rows;

    Forecast forecast(const Row& row) const { return {sides[row.event], row.probability}; }
    // What a text means; `place` is for messages.
    Sides read(const std::string& place, std::string_view text);
    // A conditional that logic and laws settle means a constant event.
    Sides settled(const std::string& place, const Sides& read) const;
    // The number of an event, which is added if it is new.
    std::size_t event(const std::string& place, std::string_view text);

private:
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> numbers_;
};

// `message` has four parts: classes of characters past ASCII, the table, statements, and the question, which is left in
// `question`. Throws Refusal, and TextError while `reading` says what it is about.
PanelText read_panel(std::string_view message, std::string_view& question);

}  // namespace coherently::browser
