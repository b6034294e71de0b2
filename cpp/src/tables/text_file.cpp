#include "coherently/tables/text_file.hpp"

#include <algorithm>

#include "coherently/tables/utf8.hpp"

namespace coherently {

FoundFault TextFile::push(std::string_view bytes, bool last) {
    buffer_.erase(0, at_);
    checked_ -= at_;
    at_ = 0;
    buffer_.append(bytes);
    last_ = last;
    const std::string_view fresh = std::string_view(buffer_).substr(checked_);
    const auto line_of = [&](std::size_t place) {
        return lines_ + std::count(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(place), '\n') + 1;
    };
    const std::size_t nul = fresh.find('\0');
    if (nul != std::string_view::npos) return {ScanFault::nul, line_of(nul), 0};
    bool cut_off = false;
    const std::size_t valid = valid_prefix(fresh, cut_off);
    if (valid < fresh.size() && (last || !cut_off))
        return {ScanFault::encoding, line_of(valid), static_cast<unsigned char>(fresh[valid])};
    lines_ = line_of(valid) - 1;
    checked_ += valid;
    return {};
}

bool TextFile::find_line(std::size_t& end, std::size_t& next) const {
    const std::string_view text = rest();
    end = text.find_first_of("\r\n");
    if (end == std::string_view::npos) {
        end = next = text.size();
        return last_ && !text.empty();
    }
    const bool is_return = text[end] == '\r';
    if (is_return && end + 1 == text.size() && !last_) return false;  // a line feed may follow
    next = end + 1 + (is_return && end + 1 < text.size() && text[end + 1] == '\n');
    return true;
}

}  // namespace coherently
