#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <variant>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "arrays.hpp"
#include "coherently/tables/arrow.hpp"
#include "coherently/tables/csv_scanner.hpp"
#include "coherently/tables/csv_writer.hpp"
#include "coherently/tables/json_scanner.hpp"
#include "coherently/tables/tally.hpp"

namespace coherently::bindings {
namespace {

using Plans = std::vector<std::tuple<int, double, double>>;
using FaultTuple = std::optional<std::tuple<std::string, std::int64_t, unsigned>>;
using PackedArrays = std::tuple<NewArray<std::int64_t>, NewArray<std::uint8_t>>;
// Codes, distinct texts, values, places of odd cells, and the first number as written.
using ColumnArrays = std::tuple<NewArray<std::int32_t>, PackedArrays, NewArray<double>, NewArray<std::int64_t>,
                                std::optional<std::string>>;

const char* fault_name(ScanFault fault) {
    switch (fault) {
        case ScanFault::nul: return "nul";
        case ScanFault::encoding: return "encoding";
        case ScanFault::after_quote: return "after quote";
        case ScanFault::unending: return "unending";
        case ScanFault::too_long: return "too long";
        default: return "unusual";
    }
}

FaultTuple tell(const FoundFault& found) {
    if (!found) return std::nullopt;
    return std::tuple(std::string(fault_name(found.fault)), found.place, found.byte);
}

std::vector<ColumnPlan> to_plans(const Plans& plans) {
    std::vector<ColumnPlan> found;
    for (const auto& [kind, low, high] : plans) found.push_back({static_cast<ColumnKind>(kind), low, high});
    return found;
}

template <typename T>
NewArray<T> give_fitted(std::vector<T>&& values) {
    values.shrink_to_fit();
    return give(std::move(values));
}

// The texts from one on, with offsets from 0.
PackedArrays pack(const TextPool& pool, std::size_t start) {
    if (start > pool.size()) throw nb::index_error("the pool has fewer texts");
    const std::int64_t base = pool.offsets()[start];
    std::vector<std::int64_t> offsets(pool.offsets().begin() + static_cast<std::ptrdiff_t>(start),
                                      pool.offsets().end());
    for (std::int64_t& offset : offsets) offset -= base;
    std::vector<std::uint8_t> bytes(pool.bytes().begin() + base, pool.bytes().end());
    return {give(std::move(offsets)), give(std::move(bytes))};
}

// What a column has read since it was taken last; its texts go with it.
template <typename Scanner>
ColumnArrays take_column(Scanner& scanner, std::size_t index) {
    Column& column = scanner.columns().at(index);
    column.finish();
    std::optional<std::string> first;
    if (std::exchange(column.has_number, false)) first = column.first_number;
    const PackedArrays texts = pack(*std::exchange(column.pool, std::make_shared<TextPool>()), 0);
    return {give_fitted(std::exchange(column.codes, {})), texts, give_fitted(std::exchange(column.values, {})),
            give_fitted(std::exchange(column.odd, {})), first};
}

// The numbers of texts that a column has read since they were taken last; its texts stay.
template <typename Scanner>
NewArray<std::int32_t> take_codes(Scanner& scanner, std::size_t index) {
    Column& column = scanner.columns().at(index);
    column.finish();
    return give(std::exchange(column.codes, {}));
}

// Lets a column number its texts in a pool that others may share; before it has read any.
template <typename Scanner>
void share_pool(Scanner& scanner, std::size_t index, std::shared_ptr<TextPool> pool) {
    scanner.columns().at(index).pool = std::move(pool);
}

template <typename Scanner>
FaultTuple push(Scanner& scanner, const nb::bytes& block, bool last) {
    const std::string_view view(block.c_str(), block.size());
    nb::gil_scoped_release release;
    return tell(scanner.push(view, last));
}

template <typename Scanner>
FaultTuple scan(Scanner& scanner) {
    nb::gil_scoped_release release;
    return tell(scanner.scan());
}

NewArray<std::int64_t> copied(const std::vector<std::int64_t>& values) { return give(std::vector(values)); }

void bind_csv(nb::module_& module) {
    nb::class_<CsvScanner>(module, "CsvScanner")
        .def(nb::init<std::size_t>(), nb::arg("cell_limit"))
        .def("push", &push<CsvScanner>, nb::arg("block"), nb::arg("last"))
        .def("find_header",
             [](CsvScanner& scanner) -> std::optional<std::string> {
                 std::string_view line;
                 if (!scanner.find_header(line)) return std::nullopt;
                 return std::string(line);
             })
        .def(
            "read_header",
            [](CsvScanner& scanner, char delimiter) -> std::optional<std::tuple<std::vector<std::string>, FaultTuple>> {
                std::vector<std::string> names;
                FoundFault fault;
                if (!scanner.read_header(delimiter, names, fault)) return std::nullopt;
                return std::tuple(names, tell(fault));
            },
            nb::arg("delimiter"))
        .def(
            "plan",
            [](CsvScanner& scanner, const Plans& plans, std::size_t named) { scanner.plan(to_plans(plans), named); },
            nb::arg("plans"), nb::arg("named"))
        .def("scan", &scan<CsvScanner>)
        .def("take_column", &take_column<CsvScanner>, nb::arg("index"))
        .def("take_codes", &take_codes<CsvScanner>, nb::arg("index"))
        .def("share_pool", &share_pool<CsvScanner>, nb::arg("index"), nb::arg("pool"))
        .def("take_left_out", [](CsvScanner& scanner) { return give(scanner.take_left_out()); })
        .def("ragged",
             [](const CsvScanner& scanner) {
                 return std::tuple(copied(scanner.ragged()), copied(scanner.ragged_cells()));
             })
        .def_prop_ro("first_row", &CsvScanner::first_row)
        .def_prop_ro("rows", &CsvScanner::rows)
        .def_prop_ro("blank", &CsvScanner::blank)
        .def_prop_ro("has_nameless", &CsvScanner::has_nameless);
}

void bind_json(nb::module_& module) {
    nb::class_<JsonScanner>(module, "JsonScanner")
        .def(nb::init<>())
        .def("push", &push<JsonScanner>, nb::arg("block"), nb::arg("last"))
        .def("read_keys",
             [](JsonScanner& scanner) -> std::optional<std::tuple<std::vector<std::string>, FaultTuple>> {
                 FoundFault fault;
                 if (!scanner.read_keys(fault)) return std::nullopt;
                 return std::tuple(scanner.keys(), tell(fault));
             })
        .def(
            "plan", [](JsonScanner& scanner, const Plans& plans) { scanner.plan(to_plans(plans)); }, nb::arg("plans"))
        .def("scan", &scan<JsonScanner>)
        .def("take_column", &take_column<JsonScanner>, nb::arg("index"))
        .def("take_codes", &take_codes<JsonScanner>, nb::arg("index"))
        .def("share_pool", &share_pool<JsonScanner>, nb::arg("index"), nb::arg("pool"))
        .def("take_rows", [](JsonScanner& scanner) { return give(scanner.take_rows()); });
}

// The number of each text of an Arrow stream, or None if it has no texts.
std::optional<NewArray<std::int32_t>> encode(TextPool& pool, const nb::capsule& capsule) {
    auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (stream == nullptr) throw nb::python_error();
    std::vector<std::int32_t> codes;
    bool has_texts = false;
    try {
        nb::gil_scoped_release release;
        has_texts = encode_stream(*stream, pool, codes);
    } catch (const BrokenText& broken) {
        throw nb::value_error(std::to_string(broken.row).c_str());
    }
    if (!has_texts) return std::nullopt;
    return give_fitted(std::move(codes));
}

void add_forecasts(Tally& tally, Vector<std::int32_t> codes, Vector<double> probability,
                   const std::optional<Vector<double>>& weight, Vector<std::int64_t> rows) {
    nb::gil_scoped_release release;
    tally.add(view(codes), view(probability), weight ? view(*weight) : std::span<const double>(), view(rows));
}

std::string_view text_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

using Numbers = Vector<double>;
struct PackedCells {
    Vector<std::int64_t> offsets;
    Vector<std::uint8_t> bytes;

    std::size_t size() const { return offsets.size() - 1; }
    std::string_view operator[](std::size_t i) const {
        const auto begin = static_cast<std::size_t>(offsets(i)), end = static_cast<std::size_t>(offsets(i + 1));
        if (begin > end || end > bytes.size()) throw nb::value_error("offsets must ascend within the bytes");
        return {reinterpret_cast<const char*>(bytes.data()) + begin, end - begin};
    }
};
using Cells = std::variant<nb::list, Numbers, PackedCells>;

Cells to_cells(nb::handle column) {
    if (nb::isinstance<nb::list>(column)) return nb::cast<nb::list>(column);
    if (!nb::isinstance<nb::tuple>(column)) return nb::cast<Numbers>(column);
    const auto [offsets, bytes] = nb::cast<std::tuple<Vector<std::int64_t>, Vector<std::uint8_t>>>(column);
    if (offsets.size() == 0) throw nb::value_error("there is one offset more than texts");
    return PackedCells{offsets, bytes};
}

std::size_t length_of(const Cells& cells) {
    if (const auto* texts = std::get_if<nb::list>(&cells)) return nb::len(*texts);
    if (const auto* numbers = std::get_if<Numbers>(&cells)) return numbers->size();
    return std::get<PackedCells>(cells).size();
}

// Writes the rows of columns from one on and up to another. A column is a list of texts, an array of numbers, or the
// offsets and bytes of texts.
nb::bytes csv_rows(const nb::list& columns, std::size_t start, std::size_t stop, char delimiter) {
    std::vector<Cells> cells;
    for (nb::handle column : columns) {
        cells.push_back(to_cells(column));
        if (stop > length_of(cells.back()) || start > stop) throw nb::index_error("a column has fewer rows");
    }
    std::string out;
    for (std::size_t row = start; row < stop; ++row) {
        const std::size_t begin = out.size();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i > 0) out += delimiter;
            if (const auto* texts = std::get_if<nb::list>(&cells[i]))
                write_text(text_of(PyList_GetItem(texts->ptr(), static_cast<Py_ssize_t>(row))), delimiter, out);
            else if (const auto* packed = std::get_if<PackedCells>(&cells[i]))
                write_text((*packed)[row], delimiter, out);
            else write_number(std::get<Numbers>(cells[i])(row), out);
        }
        if (out.size() == begin) out += "\"\"";  // a row that is not an empty line
        out += '\n';
    }
    return nb::bytes(out.data(), out.size());
}

bool contains_return(const nb::list& texts) {
    for (nb::handle text : texts)
        if (text_of(text).find('\r') != std::string_view::npos) return true;
    return false;
}

// Texts of the Arrow layout as strings, those of an index.
nb::list unpack(Vector<std::int64_t> offsets, Vector<std::uint8_t> bytes, Vector<std::int64_t> index) {
    const auto* data = reinterpret_cast<const char*>(bytes.data());
    nb::list found;
    for (const std::int64_t i : view(index)) {
        if (i < 0 || static_cast<std::size_t>(i) + 1 >= offsets.size()) throw nb::index_error("there are fewer texts");
        const std::int64_t begin = offsets(static_cast<std::size_t>(i)), end = offsets(static_cast<std::size_t>(i) + 1);
        found.append(nb::steal(PyUnicode_DecodeUTF8(data + begin, end - begin, "strict")));
    }
    return found;
}

// The texts of an index, in the same layout.
PackedArrays pick(Vector<std::int64_t> offsets, Vector<std::uint8_t> bytes, Vector<std::int64_t> index) {
    const std::int64_t* ends = offsets.data();
    const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
    std::vector<std::int64_t> places{0};
    places.reserve(index.size() + 1);
    for (const std::int64_t i : view(index)) {
        if (i < 0 || i >= count) throw nb::index_error("there are fewer texts");
        places.push_back(places.back() + ends[i + 1] - ends[i]);
    }
    std::vector<std::uint8_t> picked;
    picked.reserve(static_cast<std::size_t>(places.back()));
    for (const std::int64_t i : view(index))
        picked.insert(picked.end(), bytes.data() + ends[i], bytes.data() + ends[i + 1]);
    return {give(std::move(places)), give_fitted(std::move(picked))};
}

// Rows of different lengths in the order of an index: where each begins, and their values.
template <typename T>
std::tuple<NewArray<std::int64_t>, NewArray<T>> take_rows(Vector<std::int64_t> starts, Vector<T> values,
                                                          Vector<std::int64_t> index) {
    const auto rows = static_cast<std::int64_t>(starts.size()) - 1, count = static_cast<std::int64_t>(values.size());
    std::vector<std::int64_t> places{0};
    places.reserve(index.size() + 1);
    for (const std::int64_t i : view(index)) {
        if (i < 0 || i >= rows) throw nb::index_error("there are fewer rows");
        const std::int64_t begin = starts.data()[i], end = starts.data()[i + 1];
        if (begin < 0 || begin > end || end > count) throw nb::value_error("starts must ascend within the values");
        places.push_back(places.back() + end - begin);
    }
    std::vector<T> taken(static_cast<std::size_t>(places.back()));
    for (std::size_t row = 0; row < index.size(); ++row) {
        const std::int64_t i = index.data()[row];
        std::copy(values.data() + starts.data()[i], values.data() + starts.data()[i + 1], taken.begin() + places[row]);
    }
    return {give(std::move(places)), give(std::move(taken))};
}

// Memory that is given back stays with this process, which asks for as much again: for one that ends soon.
void keep_freed_memory() {
#ifdef __GLIBC__
    constexpr int largest = 1 << 30;
    mallopt(M_MMAP_THRESHOLD, largest);
    mallopt(M_TRIM_THRESHOLD, largest);
#endif
}

}  // namespace

void bind_tables(nb::module_& module) {
    bind_csv(module);
    bind_json(module);
    nb::class_<TextPool>(module, "TextPool")
        .def(nb::init<>())
        .def("encode", &encode, nb::arg("stream"))
        .def("pack", &pack, nb::arg("start"))
        .def("find", &TextPool::find, nb::arg("text"))
        .def("__len__", &TextPool::size);
    nb::class_<Tally>(module, "Tally")
        .def(nb::init<>())
        .def("add", &add_forecasts, nb::arg("codes"), nb::arg("probability"), nb::arg("weight"), nb::arg("rows"))
        .def("sums", [](const Tally& tally) {
            return std::tuple(give(std::vector(tally.count)), give(std::vector(tally.weight)),
                              give(std::vector(tally.product)), give(std::vector(tally.square)),
                              give(std::vector(tally.first)));
        });
    module.def("csv_rows", &csv_rows, nb::arg("columns"), nb::arg("start"), nb::arg("stop"), nb::arg("delimiter"));
    module.def("contains_return", &contains_return, nb::arg("texts"));
    module.def("pick", &pick, nb::arg("offsets"), nb::arg("data"), nb::arg("index"));
    module.def("take_rows", &take_rows<std::int32_t>, nb::arg("starts"), nb::arg("values"), nb::arg("index"));
    module.def("take_rows", &take_rows<std::uint64_t>, nb::arg("starts"), nb::arg("values"), nb::arg("index"));
    module.def("keep_freed_memory", &keep_freed_memory);
    module.def("unpack", &unpack, nb::arg("offsets"), nb::arg("data"), nb::arg("index"));
}

}  // namespace coherently::bindings
