/// Names of files in JSON, which contains only UTF-8.
package enum FileName {
    /// Name of this file for the daemon: the absolute path, or a `file://` uri if the path is not UTF-8.
    package static func uri(ofAbsolutePath path: [UInt8]) -> String {
        String(validating: path, as: UTF8.self) ?? encoded(ofAbsolutePath: path)
    }

    /// The `file://` uri of this file.
    package static func encoded(ofAbsolutePath path: [UInt8]) -> String {
        var result = "file://"
        for byte in path {
            let isPlain =
                byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
                || byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
                || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || "/-._~".utf8.contains(byte)
            if isPlain {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += byte < 16 ? "%0" : "%"
                result += String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// An absolute path with each part `..` resolved to the parent folder, by the text alone.
    package static func direct(_ path: [UInt8]) -> [UInt8] {
        var parts: [ArraySlice<UInt8>] = []
        for part in path.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts.isEmpty ? [UInt8(ascii: "/")] : parts.flatMap { [UInt8(ascii: "/")] + $0 }
    }

    /// `name` below `folder`, unless it is absolute already; without `./` and doubled slashes. `..` stays, because only
    /// the file system knows its target.
    package static func absolute(_ name: [UInt8], in folder: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let whole = name.first == slash ? name : folder + [slash] + name
        var result: [UInt8] = []
        for part in whole.split(separator: slash) where part != [UInt8(ascii: ".")] {
            result.append(slash)
            result += part
        }
        return result.isEmpty ? [slash] : result
    }
}
