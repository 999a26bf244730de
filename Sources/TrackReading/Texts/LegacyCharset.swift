import Glibc
import Synchronization

/// A character set of texts that are not UTF-8, by the tables of the C library (iconv(3)).
package final class LegacyCharset: Sendable {
    /// The name by which `init` found it.
    package let name: String
    private let converter: Mutex<Converter>

    /// An open conversion to UTF-8. It has a state, so one thread at a time uses it.
    private struct Converter: ~Copyable, @unchecked Sendable {
        // @unchecked: the lock of its owner guards it.
        let handle: iconv_t

        deinit { iconv_close(handle) }
    }

    /// The most that iconv writes for a byte: three bytes of UTF-8 for a letter of one byte, and room for marks.
    private static let growth = 4

    /// The character set of this name, such as `shift-jis`, `gbk` or `cp1251`; upper and lower case are the same. Nil: the
    /// C library has none of this name, or ASCII is not a part of it. Loads a file of the C library.
    package init?(_ name: String) {
        guard !name.isEmpty, name.utf8.count <= 64,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x2C })
        else { return nil }
        let handle = iconv_open("UTF-8", Self.wider[name.lowercased()] ?? name)
        guard handle != iconv_t(bitPattern: -1), let handle else { return nil }
        self.name = name
        converter = Mutex(Converter(handle: handle))
        let ascii = (0x20..<0x7F).map { UInt8($0) }
        guard text(ascii) == String(decoding: ascii, as: UTF8.self) else { return nil }
    }

    /// Names whose texts are mostly of a larger set (WHATWG Encoding Standard §4.2): that set is used.
    private static let wider = [
        "shift-jis": "CP932", "shift_jis": "CP932", "sjis": "CP932", "ms_kanji": "CP932", "windows-31j": "CP932",
        "gbk": "GB18030", "gb2312": "GB18030", "cp936": "GB18030", "euc-cn": "GB18030", "big5": "BIG5-HKSCS",
        "euc-kr": "CP949", "ks_c_5601-1987": "CP949", "latin1": "CP1252", "iso-8859-1": "CP1252",
        "iso8859-1": "CP1252", "latin5": "CP1254", "iso-8859-9": "CP1254", "iso8859-9": "CP1254", "tis-620": "CP874",
        "iso-8859-11": "CP874",
    ]

    /// The text of these bytes; nil: they are no text of this character set. Any thread.
    package func text(_ bytes: some Collection<UInt8>) -> String? {
        if bytes.isEmpty { return "" }
        var source = bytes.map { CChar(bitPattern: $0) }
        return converter.withLock { converter in
            iconv(converter.handle, nil, nil, nil, nil)
            let room = source.count * Self.growth
            var isWhole = false
            let text = [UInt8](unsafeUninitializedCapacity: room) { target, count in
                source.withUnsafeMutableBufferPointer { source in
                    var from = source.baseAddress
                    var fromLeft = source.count
                    target.withMemoryRebound(to: CChar.self) { target in
                        var to = target.baseAddress
                        var toLeft = room
                        // A number above zero: it replaced characters.
                        let replaced = iconv(converter.handle, &from, &fromLeft, &to, &toLeft)
                        isWhole = replaced == 0 && iconv(converter.handle, nil, nil, &to, &toLeft) == 0
                        count = room - toLeft
                    }
                }
            }
            return isWhole ? String(validating: text, as: UTF8.self) : nil
        }
    }
}

/// Texts in a character set that their source does not name: tags of old programs, lists, headers of radio stations.
package enum LegacyText {
    private static let charset = Mutex<LegacyCharset?>(nil)

    /// Character set of the texts of this process that are not UTF-8; nil: Windows-1252. Any thread.
    package static var current: LegacyCharset? {
        get { charset.withLock { $0 } }
        set { charset.withLock { $0 = newValue } }
    }

    /// The text of these bytes: UTF-8 if they are valid UTF-8, else of the character set, else Windows-1252.
    package static func decoded(
        _ bytes: some Collection<UInt8>, _ charset: @autoclosure () -> LegacyCharset? = current
    ) -> String {
        String(validating: bytes, as: UTF8.self) ?? charset()?.text(bytes) ?? windows1252(bytes)
    }

    /// The text of bytes whose source names Latin-1. Programs write every other character set under this name: it is
    /// Windows-1252, or with a character set as `decoded`.
    package static func latin1(_ bytes: some Collection<UInt8>, _ charset: LegacyCharset? = current) -> String {
        charset == nil ? windows1252(bytes) : decoded(bytes, charset)
    }

    /// The last argument of a program that reads tags for this one, if there is a character set `current`.
    package static var argument: [String] { current.map { [option + $0.name] } ?? [] }
    private static let option = "charset="

    /// Takes the character set `current` of the program that started this one from an argument. False: it has none.
    package static func take(argument: String) -> Bool {
        guard argument.hasPrefix(option), let charset = LegacyCharset(String(argument.dropFirst(option.utf8.count)))
        else { return false }
        current = charset
        return true
    }

    /// Decodes Windows-1252, which contains Latin-1. Its five gaps decode as in Latin-1.
    package static func windows1252(_ bytes: some Sequence<UInt8>) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes.lazy.map { windowsScalar(Unicode.Scalar($0)) })
        return String(scalars)
    }

    /// The character that Windows-1252 has at the position of a control character of Latin-1; any other as it is.
    static func windowsScalar(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        (0x80..<0xA0).contains(scalar.value) ? windowsScalars[Int(scalar.value) - 0x80] : scalar
    }

    private static let windowsScalars: [Unicode.Scalar] = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)

    /// The bytes of a field of fixed length that its text fills, without the part of a character at their end. All bytes if
    /// they are whole characters, or of an unknown character set.
    package static func wholeCharacters<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ charset: LegacyCharset? = current
    ) -> Bytes.SubSequence {
        let all = bytes[...]
        func isText(_ part: Bytes.SubSequence) -> Bool {
            String(validating: part, as: UTF8.self) != nil || charset?.text(part) != nil
        }
        if all.allSatisfy({ $0 < 0x80 }) || isText(all) { return all }
        for dropped in 1..<4 {
            let part = all.dropLast(dropped)
            // A single letter of Latin-1 at the end looks like the start of a character; more of them make the difference.
            if part.contains(where: { $0 >= 0x80 }), isText(part) { return part }
        }
        return all
    }

    /// True if UTF-16 without a byte order mark is more probably big-endian: the high bytes of a text repeat, as they name
    /// its script.
    package static func looksBigEndian(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        var seen = (even: Set<UInt8>(), odd: Set<UInt8>())
        var zeros = (even: 0, odd: 0)
        for (index, byte) in bytes.prefix(512).enumerated() {
            if index % 2 == 0 {
                seen.even.insert(byte)
                zeros.even += byte == 0 ? 1 : 0
            } else {
                seen.odd.insert(byte)
                zeros.odd += byte == 0 ? 1 : 0
            }
        }
        if zeros.even != zeros.odd { return zeros.even > zeros.odd }
        if seen.even.count != seen.odd.count { return seen.even.count < seen.odd.count }
        // Each character has a high byte of its own, as in Chinese: in the wrong order, some are no letters.
        return letters(bytes.prefix(512), isBig: true) > letters(bytes.prefix(512), isBig: false)
    }

    private static func letters(_ bytes: some RandomAccessCollection<UInt8>, isBig: Bool) -> Int {
        var (count, first) = (0, UInt16?.none)
        for byte in bytes {
            guard let before = first else {
                first = UInt16(byte)
                continue
            }
            first = nil
            let unit = isBig ? before << 8 | UInt16(byte) : UInt16(byte) << 8 | before
            if Unicode.Scalar(unit)?.properties.isAlphabetic == true { count += 1 }
        }
        return count
    }
}
