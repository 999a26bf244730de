import CFFmpeg
import ChildDecoding

/// A source of bytes.
protocol MediaInput: AnyObject {
    /// Bytes of the whole source; nil: unknown.
    var size: Int64? { get }
    /// True if `seek` works.
    var isSeekable: Bool { get }
    /// Waits for at least one byte and copies the available bytes. Returns the count, or an error number of FFmpeg.
    func read(into target: UnsafeMutableRawBufferPointer) -> Int32
    /// Sets the offset of the next byte to read. Does not wait.
    func seek(to offset: Int64)
}

/// FFmpeg's view of an input: its own buffer and our two functions, so that it never opens anything itself.
final class InputContext {
    /// Bytes per request: few, so that slow data is decoded as it arrives.
    private static let bufferBytes: Int32 = 16 << 10

    private(set) var context: UnsafeMutablePointer<AVIOContext>?
    private let input: any MediaInput
    private var position: Int64 = 0
    /// True if a jump was refused because the input cannot seek.
    private(set) var refusedJump = false

    /// A context over this input; it must not outlive it. Throws `WireFailure` if no memory is left.
    init(_ input: any MediaInput) throws(WireFailure) {
        self.input = input
        let own = Unmanaged.passUnretained(self).toOpaque()
        let buffer = av_malloc(Int(Self.bufferBytes))?.assumingMemoryBound(to: UInt8.self)
        context = avio_alloc_context(
            buffer, Self.bufferBytes, 0, own,
            { own, bytes, count in
                guard let own, let bytes, count > 0 else { return ffmpeg_error_io }
                let target = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
                return Unmanaged<InputContext>.fromOpaque(own).takeUnretainedValue().read(target)
            }, nil,
            { own, offset, whence in
                guard let own else { return Int64(ffmpeg_error_io) }
                return Unmanaged<InputContext>.fromOpaque(own).takeUnretainedValue().seek(offset, whence)
            })
        guard let context else { throw WireFailure(.broken, "no memory left") }
        context.pointee.seekable = input.isSeekable ? AVIO_SEEKABLE_NORMAL : 0
    }

    deinit {
        if let buffer = context?.pointee.buffer { av_free(buffer) }
        avio_context_free(&context)
    }

    /// Allows reading after a command interrupted it.
    func clearError() {
        context?.pointee.error = 0
        context?.pointee.eof_reached = 0
    }

    private func read(_ target: UnsafeMutableRawBufferPointer) -> Int32 {
        let count = input.read(into: target)
        if count > 0 { position += Int64(count) }
        return count
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return input.size ?? Int64(ffmpeg_error_io) }
        let base: Int64
        switch whence & ~AVSEEK_FORCE {
        case SEEK_SET: base = 0
        case SEEK_CUR: base = position
        case SEEK_END: base = input.size ?? -1
        default: return Int64(ffmpeg_error_io)
        }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard input.isSeekable, base >= 0, !overflow, target >= 0 else {
            refusedJump = true
            return Int64(ffmpeg_error_io)
        }
        input.seek(to: target)
        position = target
        return target
    }
}
