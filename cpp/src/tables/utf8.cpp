#include "coherently/tables/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace coherently {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

bool is_ascii_space(unsigned c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

// The white space of Python beyond ASCII, by its UTF-8 form: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029,
// U+202F, U+205F and U+3000.
bool is_wide_space(std::string_view c) {
    if (c.size() == 2) return byte_at(c, 0) == 0xC2 && (byte_at(c, 1) == 0x85 || byte_at(c, 1) == 0xA0);
    if (c.size() != 3) return false;
    const unsigned code = (byte_at(c, 0) & 0x0F) << 12 | (byte_at(c, 1) & 0x3F) << 6 | (byte_at(c, 2) & 0x3F);
    return code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
           code == 0x205F || code == 0x3000;
}

// The bytes of white space at the front; 0 if there is none.
std::size_t space_in_front(std::string_view text) {
    if (text.empty()) return 0;
    const unsigned lead = byte_at(text, 0);
    if (lead < 0x80) return is_ascii_space(lead) ? 1 : 0;
    const std::size_t width = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return is_wide_space(text.substr(0, width)) ? width : 0;
}

std::size_t space_behind(std::string_view text) {
    if (text.empty()) return 0;
    if (byte_at(text, text.size() - 1) < 0x80) return is_ascii_space(byte_at(text, text.size() - 1)) ? 1 : 0;
    std::size_t start = text.size() - 1;
    while (start > 0 && (byte_at(text, start) & 0xC0) == 0x80) --start;
    return is_wide_space(text.substr(start)) ? text.size() - start : 0;
}

// The bytes of the character in front if it is valid; else 0, and whether more bytes could make it valid.
std::size_t character_in_front(std::string_view bytes, bool& cut_off) {
    const unsigned lead = byte_at(bytes, 0);
    cut_off = false;
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    const std::size_t width = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    for (std::size_t i = 1; i < width; ++i) {
        if (i >= bytes.size()) {
            cut_off = true;
            return 0;
        }
        unsigned low = 0x80, high = 0xBF;
        if (i == 1 && lead == 0xE0) low = 0xA0;   // no shorter form exists
        if (i == 1 && lead == 0xED) high = 0x9F;  // not half of a surrogate pair
        if (i == 1 && lead == 0xF0) low = 0x90;
        if (i == 1 && lead == 0xF4) high = 0x8F;  // at most U+10FFFF
        if (byte_at(bytes, i) < low || byte_at(bytes, i) > high) return 0;
    }
    return width;
}

}  // namespace

std::string_view strip(std::string_view text) {
    while (const std::size_t width = space_in_front(text)) text.remove_prefix(width);
    while (const std::size_t width = space_behind(text)) text.remove_suffix(width);
    return text;
}

std::size_t valid_prefix(std::string_view bytes, bool& cut_off) {
    std::size_t at = 0;
    cut_off = false;
    while (at < bytes.size()) {
        std::uint64_t word = 0;
        while (at + sizeof word <= bytes.size()) {
            std::memcpy(&word, bytes.data() + at, sizeof word);
            if ((word & 0x8080808080808080) != 0) break;
            at += sizeof word;
        }
        if (at >= bytes.size()) break;
        const std::size_t width = character_in_front(bytes.substr(at), cut_off);
        if (width == 0) return at;
        at += width;
    }
    return at;
}

}  // namespace coherently
