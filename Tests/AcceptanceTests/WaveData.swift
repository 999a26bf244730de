/// Content of the `data` chunk of a WAV file, to its end.
func samples(_ file: [UInt8]) -> [UInt8] {
    guard let start = file.firstRange(of: Array("data".utf8))?.upperBound, file.count >= start + 4 else { return [] }
    return Array(file[(start + 4)...])
}

/// A sample as it stands in a WAV file.
func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
