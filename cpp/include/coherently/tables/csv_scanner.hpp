// CSV as RFC 4180 has it, block by block, into columns. What is a cell, and what is refused, is as in Python's csv
// module with strict=True.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coherently/tables/column.hpp"
#include "coherently/tables/text_file.hpp"

namespace coherently {

class CsvScanner {
public:
    explicit CsvScanner(std::size_t cell_limit) : cell_limit_(cell_limit) {}

    FoundFault push(std::string_view bytes, bool last) { return file_.push(bytes, last); }
    // Skips blank lines. True if a whole line that is not blank is in front; its number, from 1, is `first_row`.
    bool find_header(std::string_view& line);
    // Reads the first record; false if it is not yet whole.
    bool read_header(char delimiter, std::vector<std::string>& names, FoundFault& fault);
    // How to read the columns. Those from `named` on have no name and should be empty.
    void plan(const std::vector<ColumnPlan>& plans, std::size_t named);
    // Reads all records that are whole.
    FoundFault scan();

    std::vector<Column>& columns() { return columns_; }
    std::int64_t first_row() const { return first_row_; }
    std::int64_t rows() const { return row_ - first_row_; }  // the header included
    std::int64_t blank() const { return blank_; }
    bool has_nameless() const { return has_nameless_; }
    // The rows that were left out since this was asked last.
    std::vector<std::int64_t> take_left_out() { return std::exchange(left_out_, {}); }
    const std::vector<std::int64_t>& ragged() const { return ragged_; }
    const std::vector<std::int64_t>& ragged_cells() const { return ragged_cells_; }

private:
    enum class Found : std::int8_t { record, more, fault };
    struct Cell {
        std::size_t begin, size;
        bool is_unescaped;  // it lies in `unescaped_`, not in the file
    };

    Found read_record();
    Found read_quoted(std::string_view text, std::size_t& at);
    bool is_too_long(std::string_view cell) const;
    std::string_view view(const Cell& cell) const;
    void keep_record();

    TextFile file_;
    std::size_t cell_limit_;
    char delimiter_ = ',';
    std::array<bool, 256> ends_cell_{};
    std::size_t named_ = 0;
    std::vector<Column> columns_;
    std::vector<Cell> cells_;
    std::string unescaped_;
    std::size_t length_ = 0;  // of the record that was read, with its line end
    ScanFault fault_ = ScanFault::none;
    std::int64_t row_ = 1, first_row_ = 1, blank_ = 0;
    bool has_nameless_ = false;
    std::vector<std::int64_t> left_out_, ragged_, ragged_cells_;
};

}  // namespace coherently
