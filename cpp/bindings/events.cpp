#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "coherently/functions/event_table.hpp"
#include "coherently/language/mentions.hpp"
#include "coherently/language/printer.hpp"

namespace coherently::bindings {
namespace {

using Classes = std::unordered_map<std::uint32_t, int>;
using FaultRow = std::tuple<std::size_t, std::string, std::size_t, std::string>;
using BatchArrays = std::tuple<NewArray<std::int32_t>, std::vector<FaultRow>>;

Alphabet to_alphabet(const Classes& classes) {
    Alphabet alphabet;
    for (const auto& [code, kind] : classes) alphabet.emplace(code, static_cast<CharClass>(kind));
    return alphabet;
}

// The views live as long as the list does: CPython keeps the UTF-8 form with the string.
std::vector<std::string_view> to_views(const nb::list& texts) {
    std::vector<std::string_view> views;
    views.reserve(nb::len(texts));
    for (nb::handle text : texts) {
        Py_ssize_t size;
        const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!data) throw nb::python_error();
        views.emplace_back(data, static_cast<std::size_t>(size));
    }
    return views;
}

const char* fault_name(Fault fault) {
    switch (fault) {
        case Fault::undeclared: return "undeclared";
        case Fault::mismatch: return "mismatch";
        case Fault::limit: return "limit";
        case Fault::impossible: return "impossible";
        default: return "syntax";
    }
}

BatchArrays to_arrays(Batch&& batch) {
    std::vector<std::int32_t> flat;
    flat.reserve(3 * batch.sides.size());
    for (const Sides& sides : batch.sides) flat.insert(flat.end(), {sides.event, sides.condition, sides.otherwise});
    std::vector<FaultRow> faults;
    for (TextFault& fault : batch.faults)
        faults.emplace_back(fault.text, fault_name(fault.fault), fault.column, std::move(fault.message));
    return {give(std::move(flat), {batch.sides.size(), 3}), std::move(faults)};
}

BatchArrays add(EventTable& table, const nb::list& texts, const Classes& classes, std::size_t max_characters,
                unsigned threads) {
    const auto views = to_views(texts);
    const Alphabet alphabet = to_alphabet(classes);
    Batch batch;
    {
        nb::gil_scoped_release release;
        batch = table.add(views, alphabet, max_characters, threads);
    }
    return to_arrays(std::move(batch));
}

// The same of texts in the layout of Arrow: text i has the bytes from offset i to offset i + 1.
BatchArrays add_packed(EventTable& table, Vector<std::int64_t> offsets, Vector<std::uint8_t> bytes,
                       const Classes& classes, std::size_t max_characters, unsigned threads) {
    std::vector<std::string_view> views;
    views.reserve(offsets.size());
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const auto begin = static_cast<std::size_t>(offsets(i)), end = static_cast<std::size_t>(offsets(i + 1));
        if (begin > end || end > bytes.size()) throw nb::value_error("offsets must ascend within the bytes");
        views.emplace_back(reinterpret_cast<const char*>(bytes.data()) + begin, end - begin);
    }
    const Alphabet alphabet = to_alphabet(classes);
    Batch batch;
    {
        nb::gil_scoped_release release;
        batch = table.add(views, alphabet, max_characters, threads);
    }
    return to_arrays(std::move(batch));
}

BatchArrays find(const EventTable& table, const nb::list& texts, const Classes& classes, std::size_t max_characters) {
    return to_arrays(table.find(to_views(texts), to_alphabet(classes), max_characters));
}

// One fault for each statement that cannot be read.
std::vector<FaultRow> declare(EventTable& table, const nb::list& texts, const Classes& classes, bool free) {
    const Alphabet alphabet = to_alphabet(classes);
    const auto views = to_views(texts);
    std::vector<FaultRow> faults;
    for (std::size_t i = 0; i < views.size(); ++i) {
        try {
            table.declare(views[i], alphabet, free);
        } catch (const TextError& error) {
            const bool whole = error.fault == Fault::mismatch;
            faults.emplace_back(i, fault_name(error.fault), whole ? 0 : characters(views[i], error.position) + 1,
                                error.what());
        }
    }
    return faults;
}

using ChoiceRow = std::tuple<std::string, std::string, std::vector<std::string>, bool, NewArray<std::int32_t>,
                             NewArray<double>, NewArray<std::uint8_t>>;

// Name, kind, values, whether the last is the unnamed other; then for each atom its variable, value or threshold, and
// whether the threshold is included.
std::vector<ChoiceRow> choices(const EventTable& table) {
    std::vector<ChoiceRow> rows;
    for (const Declaration& declared : table.names().declarations()) {
        if (declared.free) continue;
        std::vector<std::int32_t> atoms;
        std::vector<double> at;
        std::vector<std::uint8_t> inclusive;
        for (const auto& [cut, atom] : declared.atoms) {
            atoms.push_back(atom);
            at.push_back(cut.at);
            inclusive.push_back(cut.inclusive);
        }
        const char* kind = declared.kind == DeclaredKind::named    ? "named"
                           : declared.kind == DeclaredKind::number ? "number"
                                                                   : "date";
        rows.emplace_back(declared.name, kind, declared.values, declared.open, give(std::move(atoms)),
                          give(std::move(at)), give(std::move(inclusive)));
    }
    return rows;
}

NewArray<std::int32_t> owners(const EventTable& table) {
    std::vector<std::int32_t> found;
    for (std::size_t i = 0; i < table.names().size(); ++i)
        found.push_back(table.names().owner(static_cast<std::int32_t>(i)));
    return give(std::move(found));
}

NewArray<std::int32_t> add_variables(EventTable& table, const nb::list& names) {
    std::vector<std::int32_t> sides;
    for (const std::string_view name : to_views(names)) sides.push_back(table.add_variable(name));
    return give(std::move(sides));
}

std::vector<std::string> names_of(const EventTable& table) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < table.names().size(); ++i)
        names.emplace_back(table.names()[static_cast<std::int32_t>(i)]);
    return names;
}

void check_sides(const EventTable& table, std::span<const std::int32_t> sides) {
    const auto beyond = static_cast<std::int32_t>(2 * table.size());
    for (const std::int32_t side : sides)
        if (side < 0 || side >= beyond) throw nb::index_error("a side is not in the table");
}

void check_variables(const EventTable& table, std::size_t given) {
    if (given != table.names().size()) throw nb::value_error("expected one row for each variable of the table");
}

NewArray<std::uint64_t> evaluate_worlds(const EventTable& table, Vector<std::int32_t> sides,
                                        Matrix<std::uint64_t> worlds) {
    check_sides(table, view(sides));
    check_variables(table, worlds.shape(0));
    const std::size_t words = worlds.shape(1);
    std::vector<std::uint64_t> out(sides.size() * words);
    {
        nb::gil_scoped_release release;
        evaluate(table, view(sides), worlds.data(), words, out.data());
    }
    return give(std::move(out), {sides.size(), words});
}

void check_coordinate(const EventTable& table, std::int32_t coordinate) {
    if (coordinate < 0 || static_cast<std::size_t>(coordinate) >= table.size())
        throw nb::index_error("a coordinate is not in the table");
}

std::tuple<NewArray<std::int64_t>, NewArray<std::int32_t>> supports(const EventTable& table,
                                                                    Vector<std::int32_t> coordinates) {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> variables;
    for (const std::int32_t coordinate : view(coordinates)) {
        check_coordinate(table, coordinate);
        const Function function = table.function(coordinate);
        variables.insert(variables.end(), function.variables.begin(), function.variables.end());
        starts.push_back(static_cast<std::int64_t>(variables.size()));
    }
    return {give(std::move(starts)), give(std::move(variables))};
}

std::tuple<NewArray<std::int64_t>, NewArray<std::uint64_t>> tables(const EventTable& table,
                                                                   Vector<std::int32_t> coordinates) {
    std::vector<std::int64_t> starts{0};
    std::vector<std::uint64_t> words;
    for (const std::int32_t coordinate : view(coordinates)) {
        check_coordinate(table, coordinate);
        const Function function = table.function(coordinate);
        words.insert(words.end(), function.words.begin(), function.words.end());
        starts.push_back(static_cast<std::int64_t>(words.size()));
    }
    return {give(std::move(starts)), give(std::move(words))};
}

std::string reprint(const std::string& text, const Classes& classes, std::size_t max_characters) {
    const Alphabet alphabet = to_alphabet(classes);
    Names names;
    Formula formula;
    parse(text, alphabet, max_characters, names, formula);
    const auto name_of = [&](std::int32_t i) { return names[i]; };
    std::string spaced = print(formula, name_of, alphabet, false);
    if (characters(spaced, spaced.size()) <= max_characters) return spaced;
    return print(formula, name_of, alphabet, true);
}

// The names that a text compares with values.
std::vector<std::string> compared(const std::string& text, const Classes& classes, std::size_t max_characters) {
    Names names;
    Formula formula;
    parse(text, to_alphabet(classes), max_characters, names, formula);
    std::vector<std::string> found;
    for (const Comparison& comparison : formula.comparisons) found.push_back(comparison.name);
    return found;
}

using MentionArrays = std::tuple<std::vector<std::tuple<std::string, std::vector<std::string>>>, NewArray<std::int64_t>,
                                 NewArray<std::int32_t>>;

// What texts mention, each once, and the mentions in each text by their numbers, as starts and members.
MentionArrays mentions(const nb::list& texts, const Classes& classes, std::size_t max_characters) {
    const Alphabet alphabet = to_alphabet(classes);
    Mentions all;
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> members;
    for (const std::string_view text : to_views(texts)) {
        const auto& own = all.read(text, alphabet, max_characters);
        members.insert(members.end(), own.begin(), own.end());
        starts.push_back(static_cast<std::int64_t>(members.size()));
    }
    std::vector<std::tuple<std::string, std::vector<std::string>>> found;
    for (const Mention& mention : all.found()) found.emplace_back(mention.name, mention.compared);
    return {std::move(found), give(std::move(starts)), give(std::move(members))};
}

}  // namespace

void bind_events(nb::module_& module) {
    nb::class_<EventTable>(module, "EventTable")
        .def(nb::init<>())
        .def("add", &add, nb::arg("texts"), nb::arg("classes"), nb::arg("max_characters"), nb::arg("threads") = 0)
        .def("add_packed", &add_packed, nb::arg("offsets"), nb::arg("data"), nb::arg("classes"),
             nb::arg("max_characters"), nb::arg("threads") = 0)
        .def("find", &find, nb::arg("texts"), nb::arg("classes"), nb::arg("max_characters"))
        .def("declare", &declare, nb::arg("texts"), nb::arg("classes"), nb::arg("free"))
        .def("choices", &choices)
        .def("owners", &owners)
        .def("add_variables", &add_variables, nb::arg("names"))
        .def("names", &names_of)
        .def("supports", &supports, nb::arg("coordinates"))
        .def("tables", &tables, nb::arg("coordinates"))
        .def("evaluate", &evaluate_worlds, nb::arg("sides"), nb::arg("worlds"))
        .def_prop_ro("n_variables", [](const EventTable& table) { return table.names().size(); })
        .def("__len__", &EventTable::size);
    module.def("reprint", &reprint, nb::arg("text"), nb::arg("classes"), nb::arg("max_characters"));
    module.def("compared", &compared, nb::arg("text"), nb::arg("classes"), nb::arg("max_characters"));
    module.def("mentions", &mentions, nb::arg("texts"), nb::arg("classes"), nb::arg("max_characters"));
    module.def(
        "write_name",
        [](const std::string& name, const Classes& classes) { return write_name(name, to_alphabet(classes)); },
        nb::arg("name"), nb::arg("classes"));
}

}  // namespace coherently::bindings
