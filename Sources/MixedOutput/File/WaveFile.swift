import AudioCore
import CLinux
import Glibc
import LinuxSystem

/// Failure to write a file: the system's error number.
struct FileError: Error, Equatable {
    var number: Int32
    /// The system's text for it.
    var text: String { String(cString: strerror(number)) }
}

/// A WAVE file being written; beyond 4 GiB it becomes RF64 (EBU Tech 3306), for which its header has room.
final class WaveFile {
    let format: AudioFormat
    private let path: String
    private let descriptor: Int32
    /// Bytes of audio so far.
    private(set) var length: UInt64 = 0
    /// Maximum size for a WAVE header.
    private let limit: UInt64
    private var isFinished = false

    /// Creates the file, or empties an existing one. `limit`: size from which on it is RF64; for tests.
    init(path: String, _ format: AudioFormat, limit: UInt64 = UInt64(UInt32.max)) throws(FileError) {
        self.format = format
        self.limit = limit
        self.path = path
        // Non-blocking, so that a FIFO without a reader is refused instead of awaited.
        let opened = linux_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o644)
        // Without a file there is no object, whose end would complete the header.
        guard opened >= 0 else { throw FileError(number: errno) }
        descriptor = opened
        try write(header)
    }

    deinit {
        complete()
        close(descriptor)
    }

    /// Writes the present length into the header. A failure goes to the log, and the header keeps the previous length.
    func complete() {
        do throws(FileError) { try finish() } catch {
            Log.warning("the header of \(path) cannot be written: \(error.text)")
        }
    }

    /// Appends whole frames.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try write(bytes)
        length += UInt64(bytes.count)
        isFinished = false
    }

    /// Writes the present length into the header. Further frames may follow.
    func finish() throws(FileError) {
        guard !isFinished else { return }
        let bytes = header
        // A padding byte that does not count follows a chunk of odd length.
        if length % 2 == 1, pwrite(descriptor, [0 as UInt8], 1, off_t(UInt64(bytes.count) + length)) != 1 {
            throw FileError(number: errno)
        }
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else { throw FileError(number: errno) }
        isFinished = true
    }

    private func write(_ bytes: [UInt8]) throws(FileError) {
        var failure: FileError?
        bytes.withUnsafeBytes { bytes in
            do throws(FileError) { try write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var rest = bytes
        while rest.count > 0 {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if count == 0 || errno != EINTR {
                throw FileError(number: errno)
            }
        }
    }

    /// The header for the present length: RIFF, room for ds64, fmt, the beginning of data.
    private var header: [UInt8] {
        let fmt = formatChunk
        // After the first 8 bytes: WAVE, the chunk of 28 bytes, fmt, the head of data.
        let headLength = UInt64(4 + 8 + 28 + 8 + fmt.count + 8)
        let riffLength = headLength + length + length % 2
        let isLong = riffLength > limit
        var bytes: [UInt8] = []
        bytes += Array((isLong ? "RF64" : "RIFF").utf8)
        bytes += littleEndian(isLong ? UInt32.max : UInt32(riffLength))
        bytes += Array("WAVE".utf8)
        bytes += Array((isLong ? "ds64" : "JUNK").utf8) + littleEndian(UInt32(28))
        bytes += littleEndian(isLong ? riffLength : 0) + littleEndian(isLong ? length : 0)
        bytes += littleEndian(isLong ? length / UInt64(format.bytesPerFrame) : 0) + littleEndian(UInt32(0))
        bytes += Array("fmt ".utf8) + littleEndian(UInt32(fmt.count)) + fmt
        bytes += Array("data".utf8) + littleEndian(isLong ? UInt32.max : UInt32(length))
        return bytes
    }

    /// WAVE_FORMAT_EXTENSIBLE for all formats except plain 16 bit stereo, as Microsoft's specification requires.
    private var formatChunk: [UInt8] {
        let isFloat = format.sampleFormat == .float32
        let bits = UInt16(format.sampleFormat.bytes * 8)
        let isExtensible = format.channels.count > 2 || bits > 16
        let tag: UInt16 = isFloat ? 3 : 1
        var chunk = littleEndian(isExtensible ? 0xfffe : tag)
        chunk += littleEndian(UInt16(format.channels.count)) + littleEndian(UInt32(format.sampleRate))
        chunk += littleEndian(UInt32(format.sampleRate * format.bytesPerFrame))
        chunk += littleEndian(UInt16(format.bytesPerFrame)) + littleEndian(bits)
        if isExtensible {
            chunk += littleEndian(UInt16(22)) + littleEndian(bits) + littleEndian(channelMask)
            chunk += littleEndian(tag) + [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        }
        return chunk
    }

    /// The loudspeakers as bits; 0 (none in particular) if our order is not that of the bits.
    private var channelMask: UInt32 {
        let bits = format.channels.map(\.waveBit)
        guard bits.allSatisfy({ $0 != 0 }), zip(bits, bits.dropFirst()).allSatisfy(<) else { return 0 }
        return bits.reduce(0, |)
    }
}

/// The bytes of a number, least significant first, as everywhere in WAVE.
private func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
}

extension ChannelPosition {
    /// Bit in the mask of WAVE_FORMAT_EXTENSIBLE; 0: none.
    fileprivate var waveBit: UInt32 {
        switch self {
        case .frontLeft: 0x1
        case .frontRight: 0x2
        case .frontCenter, .mono: 0x4
        case .lowFrequency: 0x8
        case .rearLeft: 0x10
        case .rearRight: 0x20
        case .frontLeftOfCenter: 0x40
        case .frontRightOfCenter: 0x80
        case .rearCenter: 0x100
        case .sideLeft: 0x200
        case .sideRight: 0x400
        case .topCenter: 0x800
        case .topFrontLeft: 0x1000
        case .topFrontCenter: 0x2000
        case .topFrontRight: 0x4000
        case .topRearLeft: 0x8000
        case .topRearCenter: 0x10000
        case .topRearRight: 0x20000
        case .auxiliary: 0
        }
    }
}
