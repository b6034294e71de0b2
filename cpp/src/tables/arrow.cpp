#include "coherently/tables/arrow.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "coherently/tables/utf8.hpp"

namespace coherently {
namespace {

// Releases what a stream hands out.
template <typename Owned>
class Released {
public:
    Released() = default;
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;
    ~Released() {
        if (value.release != nullptr) value.release(&value);
    }
    Owned value{};
};

void check(int code, ArrowArrayStream& stream) {
    if (code == 0) return;
    const char* said = stream.get_last_error(&stream);
    throw std::runtime_error(said == nullptr ? "the Arrow stream failed" : said);
}

template <typename T>
T load(const void* buffer, std::int64_t index) {
    T value;
    std::memcpy(&value, static_cast<const char*>(buffer) + index * static_cast<std::int64_t>(sizeof(T)), sizeof value);
    return value;
}

bool is_valid(const ArrowArray& array, std::int64_t index) {
    const auto* bits = static_cast<const std::uint8_t*>(array.buffers[0]);
    return bits == nullptr || (bits[index / 8] >> (index % 8) & 1) != 0;
}

template <typename Offset>
std::string_view text_by_offsets(const ArrowArray& array, std::int64_t index) {
    const auto begin = load<Offset>(array.buffers[1], index), end = load<Offset>(array.buffers[1], index + 1);
    return {static_cast<const char*>(array.buffers[2]) + begin, static_cast<std::size_t>(end - begin)};
}

// A view has a length, then up to 12 bytes of text, or 4 bytes of it, the number of a buffer, and an offset there.
std::string_view text_by_view(const ArrowArray& array, std::int64_t index) {
    const char* entry = static_cast<const char*>(array.buffers[1]) + 16 * index;
    const auto length = static_cast<std::size_t>(load<std::int32_t>(entry, 0));
    if (length <= 12) return {entry + 4, length};
    const auto buffer = load<std::int32_t>(entry, 2), offset = load<std::int32_t>(entry, 3);
    return {static_cast<const char*>(array.buffers[2 + buffer]) + offset, length};
}

using TextAt = std::string_view (*)(const ArrowArray&, std::int64_t);
using IndexAt = std::int64_t (*)(const void*, std::int64_t);

TextAt text_reader(std::string_view format) {
    if (format == "u") return text_by_offsets<std::int32_t>;
    if (format == "U") return text_by_offsets<std::int64_t>;
    if (format == "vu") return text_by_view;
    return nullptr;
}

template <typename T>
std::int64_t index_at(const void* buffer, std::int64_t index) {
    return static_cast<std::int64_t>(load<T>(buffer, index));
}

IndexAt index_reader(std::string_view format) {
    constexpr std::string_view letters = "cCsSiIlL";
    constexpr IndexAt readers[] = {index_at<std::int8_t>,   index_at<std::uint8_t>, index_at<std::int16_t>,
                                   index_at<std::uint16_t>, index_at<std::int32_t>, index_at<std::uint32_t>,
                                   index_at<std::int64_t>,  index_at<std::uint64_t>};
    const std::size_t place = format.size() == 1 ? letters.find(format[0]) : std::string_view::npos;
    return place == std::string_view::npos ? nullptr : readers[place];
}

std::int32_t encode(std::string_view text, TextPool& pool, std::size_t row) {
    const std::size_t before = pool.size();
    const std::int32_t code = pool.code(strip(text));
    bool cut_off = false;
    if (pool.size() > before && valid_prefix(text, cut_off) < text.size()) throw BrokenText(row);
    return code;
}

void encode_texts(const ArrowArray& array, TextAt text_at, TextPool& pool, std::vector<std::int32_t>& codes) {
    std::vector<std::string_view> texts;
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i)
        if (is_valid(array, i)) texts.push_back(strip(text_at(array, i)));
    std::vector<std::int32_t> found;
    found.reserve(texts.size());
    const std::size_t before = pool.size();
    pool.codes(texts, found);
    for (std::int64_t i = array.offset, place = 0; i < array.offset + array.length; ++i)
        codes.push_back(is_valid(array, i) ? found[static_cast<std::size_t>(place++)] : -1);
    bool cut_off = false;
    for (std::size_t code = before; code < pool.size(); ++code)
        if (valid_prefix(pool[code], cut_off) < pool[code].size())
            throw BrokenText(static_cast<std::size_t>(
                std::find(codes.begin(), codes.end(), static_cast<std::int32_t>(code)) - codes.begin()));
}

// Only texts of the dictionary that occur join the pool, in the order in which they occur.
void encode_indices(const ArrowArray& array, IndexAt index_at, TextAt text_at, TextPool& pool,
                    std::vector<std::int32_t>& codes) {
    constexpr std::int32_t unknown = -2;
    const ArrowArray& texts = *array.dictionary;
    std::vector<std::int32_t> known(static_cast<std::size_t>(texts.length), unknown);
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i) {
        if (!is_valid(array, i)) {
            codes.push_back(-1);
            continue;
        }
        const std::int64_t index = index_at(array.buffers[1], i);
        std::int32_t& code = known[static_cast<std::size_t>(index)];
        if (code == unknown) {
            const std::int64_t place = texts.offset + index;
            code = is_valid(texts, place) ? encode(text_at(texts, place), pool, codes.size()) : -1;
        }
        codes.push_back(code);
    }
}

}  // namespace

bool encode_stream(ArrowArrayStream& stream, TextPool& pool, std::vector<std::int32_t>& codes) {
    Released<ArrowSchema> schema;
    check(stream.get_schema(&stream, &schema.value), stream);
    const ArrowSchema* dictionary = schema.value.dictionary;
    const TextAt text_at = text_reader(dictionary != nullptr ? dictionary->format : schema.value.format);
    const IndexAt index_at = dictionary != nullptr ? index_reader(schema.value.format) : nullptr;
    if (text_at == nullptr || (dictionary != nullptr && index_at == nullptr)) return false;
    while (true) {
        Released<ArrowArray> array;
        check(stream.get_next(&stream, &array.value), stream);
        if (array.value.release == nullptr) return true;
        if (dictionary != nullptr) encode_indices(array.value, index_at, text_at, pool, codes);
        else encode_texts(array.value, text_at, pool, codes);
    }
}

}  // namespace coherently
