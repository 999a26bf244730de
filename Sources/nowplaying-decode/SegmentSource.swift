import CFFmpeg
import ForeignMedia

/// What a playlist of HLS (RFC 8216) refers to: FFmpeg asks for each part, and we fetch it, judged as any other address.
final class SegmentSource {
    /// Parts that are open at once at most.
    private static let maximumOpen = 32

    private let list: HTTPInput
    private var parts: [(input: HTTPInput, io: InputContext)] = []
    /// Why the last part could not be had; nil: it could.
    private(set) var failure: WireFailure?

    /// What this playlist refers to.
    init(_ list: HTTPInput) { self.list = list }

    /// Makes a container ask us; it may not outlive this object.
    func attach(to container: UnsafeMutablePointer<AVFormatContext>) {
        container.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        container.pointee.io_open = { container, target, address, flags, options in
            guard let own = container?.pointee.opaque, let target, let address, flags & AVIO_FLAG_WRITE == 0 else {
                return ffmpeg_error_io
            }
            let text = Tags.value("offset", of: options?.pointee)
            let offset = text.flatMap { Int64($0) } ?? 0
            let source = Unmanaged<SegmentSource>.fromOpaque(own).takeUnretainedValue()
            guard let io = source.open(String(cString: address), offset: max(0, offset)) else {
                return ffmpeg_error_io
            }
            target.pointee = io
            return 0
        }
        container.pointee.io_close2 = { container, io in
            guard let own = container?.pointee.opaque, let io else { return 0 }
            Unmanaged<SegmentSource>.fromOpaque(own).takeUnretainedValue().close(io)
            return 0
        }
    }

    private func open(_ link: String, offset: Int64) -> UnsafeMutablePointer<AVIOContext>? {
        do throws(WireFailure) {
            guard !link.hasPrefix("crypto") else { throw WireFailure(.unavailable, "it is encrypted") }
            guard parts.count < Self.maximumOpen else { throw WireFailure(.broken, "it refers to too much at once") }
            let input = try HTTPInput(part: link, of: list, offset: offset)
            let io = try InputContext(input)
            parts.append((input, io))
            failure = nil
            return io.context
        } catch {
            failure = error
            return nil
        }
    }

    private func close(_ io: UnsafeMutablePointer<AVIOContext>) { parts.removeAll { $0.io.context == io } }
}
