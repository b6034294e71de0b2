// JSON lines, block by block, into columns: flat objects with the same keys in the same order. Anything else is
// unusual, and for another reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coherently/tables/column.hpp"
#include "coherently/tables/text_file.hpp"

namespace coherently {

class JsonScanner {
public:
    FoundFault push(std::string_view bytes, bool last) { return file_.push(bytes, last); }
    // Reads the keys of the first object, which stays in front; false if it is not yet whole.
    bool read_keys(FoundFault& fault);
    const std::vector<std::string>& keys() const { return keys_; }
    // How to read the values of each key. Texts and odd cells are kept as JSON, names without their quotes.
    void plan(const std::vector<ColumnPlan>& plans);
    // Reads all lines that are whole.
    FoundFault scan();

    std::vector<Column>& columns() { return columns_; }
    // The lines that were read since this was asked last.
    std::vector<std::int64_t> take_rows() { return std::exchange(rows_, {}); }

private:
    bool read_object(std::string_view line);
    bool read_string(std::string_view line, std::size_t& at);
    bool read_value(std::string_view line, std::size_t& at, Column* column);
    bool keep_text(std::string_view token, Column& column);
    bool next_line(std::string_view& line, std::size_t& next);

    TextFile file_;
    std::vector<std::string> keys_;
    bool has_keys_ = false;
    std::vector<Column> columns_;
    std::string unescaped_;
    std::int64_t line_ = 1;
    std::vector<std::int64_t> rows_;
};

}  // namespace coherently
