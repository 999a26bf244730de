import NowPlayingClient

/// Lines of a name and a remark at its right, aligned in columns and fitted to a terminal.
struct TextTable {
    /// Each name with the space before its remark, and the remark.
    private(set) var rows: [(name: String, remark: String)] = []

    /// Lays out entries that are safe for a terminal. `margin`: columns of each line that the caller uses; `columns`:
    /// columns of the terminal, nil for lines of any length.
    init(_ entries: [(name: String, remark: String)], margin: Int, columns: Int?) {
        let remarks = entries.map { TerminalText.width(of: $0.remark) }.max() ?? 0
        // Names get at least two thirds of the line.
        let space = columns.map { max(8, $0 - margin) }
        let remarkWidth = space.map { min(remarks, max(0, $0 / 3 - 2)) } ?? remarks
        let most = space.map { $0 - (remarkWidth > 0 ? remarkWidth + 2 : 0) } ?? Int.max
        let width = min(most, entries.map { TerminalText.width(of: $0.name) }.max() ?? 0)
        rows = entries.map { entry in
            let name = columns == nil ? entry.name : TerminalText.fitted(entry.name, columns: most)
            let remark = columns == nil ? entry.remark : TerminalText.fitted(entry.remark, columns: remarkWidth)
            guard !remark.isEmpty else { return (name, "") }
            let gap = columns == nil ? 2 : max(0, width - TerminalText.width(of: name)) + 2
            return (name + String(repeating: " ", count: gap), remark)
        }
    }

    /// A number, aligned right in four columns.
    static func number(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: " ", count: max(0, 4 - digits.count)) + digits
    }
}
