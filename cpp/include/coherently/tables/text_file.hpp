// The bytes of a text file as they arrive: checked, and cut at the ends of lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coherently {

enum class ScanFault : std::int8_t { none, nul, encoding, after_quote, unending, too_long, unusual };

struct FoundFault {
    ScanFault fault = ScanFault::none;
    std::int64_t place = 0;  // the line of a byte, counted by line feeds from 1, or the row of a cell
    unsigned byte = 0;

    explicit operator bool() const { return fault != ScanFault::none; }
};

class TextFile {
public:
    // Adds bytes, the last ones if `last`; a fault is a NUL byte or one that is not UTF-8.
    FoundFault push(std::string_view bytes, bool last);
    std::string_view rest() const { return std::string_view(buffer_).substr(at_); }
    void advance(std::size_t bytes) { at_ += bytes; }
    bool is_last() const { return last_; }
    // Whether a whole line is in front, and where it ends; `next` is where the next one begins.
    bool find_line(std::size_t& end, std::size_t& next) const;

private:
    std::string buffer_;
    std::size_t at_ = 0, checked_ = 0;
    std::int64_t lines_ = 0;
    bool last_ = false;
};

}  // namespace coherently
