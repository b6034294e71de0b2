// What the page calls: a message in, JSON out.
//
// WebAssembly has no exceptions that every browser and compiler agree on, so what is thrown ends the call: the function
// `refused` of the page gets the message and throws there. Each call has a fresh instance, so nothing needs to be
// unwound.
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <typeinfo>

#include "browser/bounds.hpp"
#include "browser/panel_text.hpp"
#include "browser/verdict.hpp"
#include "coherently/components/small_mixture.hpp"

namespace coherently::browser {
namespace {

std::string message, reply;

// JSON, written from left to right.
class Json {
public:
    std::string text;

    Json& raw(std::string_view more) {
        text += more;
        return *this;
    }
    Json& key(std::string_view name) { return comma().string(name).raw(":").after(); }
    Json& open(char bracket) {
        comma().text += bracket;
        return after();
    }
    Json& close(char bracket) {
        text += bracket;
        first_ = false;
        return *this;
    }
    Json& value(std::string_view words) { return comma().string(words); }
    Json& value(double number) {
        char digits[32];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        return comma().raw({digits, static_cast<std::size_t>(end - digits)});
    }

private:
    Json& after() {
        first_ = true;
        return *this;
    }
    Json& comma() {
        if (!first_) text += ',';
        first_ = false;
        return *this;
    }
    Json& string(std::string_view words) {
        constexpr std::string_view hex = "0123456789abcdef";
        text += '"';
        for (const char letter : words) {
            const auto code = static_cast<unsigned char>(letter);
            if (letter == '"' || letter == '\\') text += '\\', text += letter;
            else if (code < 0x20) text += "\\u00", text += hex[code >> 4], text += hex[code & 15];
            else text += letter;
        }
        text += '"';
        return *this;
    }

    bool first_ = true;
};

constexpr std::string_view status_names[] = {"coherent", "rounding", "incoherent"};

void tell(const Verdict& verdict, std::size_t forecasts, Json& json) {
    json.key("forecasts").value(static_cast<double>(forecasts));
    if (!verdict.trouble.empty()) {
        json.key("status").value("unchecked").key("trouble").value(verdict.trouble);
        return;
    }
    json.key("status").value(status_names[static_cast<std::size_t>(verdict.status)]);
    json.key("distance").value(verdict.distance);
}

// Judges one by one, then the means of the events as they are written; those of one judge are its forecasts.
void tell_check(const PanelText& panel, Json& json) {
    std::vector<double> sum(panel.events.size()), slack_sum(sum.size()), count(sum.size());
    Verdict last;
    json.key("judges").open('[');
    for (std::size_t judge = 0; judge < panel.judges.size(); ++judge) {
        std::vector<Forecast> own;
        std::vector<double> numbers;
        for (const Row& row : panel.rows)
            if (row.judge == judge) own.push_back(panel.forecast(row)), numbers.push_back(row.probability);
        const double slack = half_unit(numbers);
        for (const Row& row : panel.rows)
            if (row.judge == judge)
                sum[row.event] += row.probability, slack_sum[row.event] += slack, count[row.event] += 1;
        json.open('{').key("judge").value(panel.judges[judge]);
        last = verdict(panel.logic, own, std::vector<double>(own.size(), slack));
        tell(last, own.size(), json);
        json.close('}');
    }
    std::vector<Forecast> means;
    for (std::size_t i = 0; i < sum.size(); ++i)
        means.push_back({panel.sides[i], sum[i] / count[i]}), slack_sum[i] /= count[i];
    json.close(']').key("means").open('{');
    tell(panel.judges.size() == 1 ? last : verdict(panel.logic, means, slack_sum), means.size(), json);
    json.close('}');
}

void tell_answer(const PanelText& panel, const Answer& answer, Json& json) {
    json.key("answer").open('{');
    if (!answer.trouble.empty()) {
        json.key("trouble").value(answer.trouble).close('}');
        return;
    }
    json.key("events").open('[');
    for (std::size_t i = 0; i < panel.events.size(); ++i) {
        double sum = 0, count = 0, probability = 0;
        for (std::size_t r = 0; r < panel.rows.size(); ++r)
            if (panel.rows[r].event == i)
                sum += panel.rows[r].probability, count += 1, probability = answer.value_of(r);
        json.open('{').key("event").value(panel.events[i]).key("probability").value(probability);
        json.key("mean").value(sum / count).key("forecasts").value(count).close('}');
    }
    json.close(']').key("objective").value(answer.objective).key("bound").value(answer.bound).close('}');
}

void tell_bounds(PanelText& panel, const Answer& answer, std::string_view question, Json& json) {
    if (question.empty()) return;
    json.key("bounds").open('{').key("event").value(question);
    if (!answer.trouble.empty()) {
        json.key("trouble").value("bounds need the coherent forecasts, which are not known").close('}');
        return;
    }
    Sides asked = panel.read("the question", question);
    if (asked.event != never && asked.otherwise != never) asked = panel.settled("the question", asked);
    const Bounds found = bounds(panel.logic, answer, asked);
    if (found.trouble.empty()) json.key("low").value(found.low).key("high").value(found.high);
    else json.key("trouble").value(found.trouble);
    json.close('}');
}

void answer_message() {
    std::string_view question;
    PanelText panel = read_panel(message, question);
    std::vector<Forecast> forecasts;
    for (const Row& row : panel.rows) forecasts.push_back(panel.forecast(row));
    const Answer answer = nearest(panel.logic, forecasts);
    Json json;
    json.open('{');
    tell_check(panel, json);
    tell_answer(panel, answer, json);
    tell_bounds(panel, answer, question, json);
    reply = json.close('}').text;
}

// Where and why a text cannot be read.
std::string told(const TextError& error) {
    const Reading& at = reading();
    const bool whole = error.fault == Fault::mismatch || error.fault == Fault::impossible ||
                       (error.fault == Fault::limit && error.position == 0);
    std::string place = at.place;
    if (!whole) place += ", character " + std::to_string(characters(at.text, error.position) + 1) + " of the text";
    constexpr std::size_t longest = 200;
    return place + ": " + error.what() + "\n" + std::string(at.text.substr(0, longest));
}

}  // namespace
}  // namespace coherently::browser

using namespace coherently;  // NOLINT: the names below have no namespace in WebAssembly

extern "C" {

[[noreturn]] __attribute__((import_module("page"), import_name("refused"))) void refused(const char* text,
                                                                                         std::size_t length);

// Room for a message of so many bytes, in UTF-8.
__attribute__((export_name("room"))) char* room(std::size_t bytes) {
    browser::message.resize(bytes);
    return browser::message.data();
}

// Answers the message; the length of the reply, which `reply` points to.
__attribute__((export_name("answer"))) std::size_t answer() {
    browser::answer_message();
    return browser::reply.size();
}

__attribute__((export_name("reply"))) const char* reply() { return browser::reply.data(); }

// The limits that the page tells.
__attribute__((export_name("most_states"))) std::size_t most_states() { return browser::most_states; }
__attribute__((export_name("most_worlds"))) std::size_t most_worlds() { return most_small_worlds; }
__attribute__((export_name("most_forecasts"))) std::size_t most_forecasts() { return browser::most_forecasts; }

void* __cxa_allocate_exception(std::size_t bytes) noexcept {
    static char spare[1024];  // for the exception that says that there is no memory
    void* room = std::malloc(bytes);
    return room ? room : spare;
}
void __cxa_free_exception(void*) noexcept {}
[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*)(void*)) {
    if (*type == typeid(TextError)) {
        const std::string words = browser::told(*static_cast<TextError*>(thrown));
        refused(words.data(), words.size());
    }
    const char* words = static_cast<std::exception*>(thrown)->what();
    refused(words, std::strlen(words));
}
}
