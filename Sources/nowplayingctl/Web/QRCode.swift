import CQREncode

/// A QR code for a terminal. Specification: ISO/IEC 18004.
struct QRCode {
    /// Rows of modules with the quiet zone; true: dark.
    private let rows: [[Bool]]

    /// Light modules around the symbol.
    private static let quietZone = 4

    /// The code of a text. Nil: it is too long.
    init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard let data = code.pointee.data else { return nil }
        let margin = [Bool](repeating: false, count: Self.quietZone)
        let empty = [[Bool]](
            repeating: [Bool](repeating: false, count: width + 2 * Self.quietZone), count: Self.quietZone)
        // The lowest bit of each byte is the module.
        let modules = (0..<width).map { row in margin + (0..<width).map { data[row * width + $0] & 1 == 1 } + margin }
        rows = empty + modules + empty
    }

    /// Columns of the printed code.
    var columns: Int { rows.count }

    /// Lines of half blocks, two rows of modules each. They draw the light modules, which suits a dark terminal. With
    /// `hasColours`, they suit every terminal.
    func lines(hasColours: Bool) -> [String] {
        stride(from: 0, to: rows.count, by: 2).map { top in
            let upper = rows[top]
            let lower = top + 1 < rows.count ? rows[top + 1] : [Bool](repeating: false, count: upper.count)
            let blocks = zip(upper, lower).map { isUpperDark, isLowerDark in
                switch (isUpperDark, isLowerDark) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }
            return hasColours ? "\u{1B}[40;97m" + blocks.joined() + "\u{1B}[0m" : blocks.joined()
        }
    }
}
