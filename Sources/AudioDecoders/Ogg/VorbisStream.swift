import AudioCore
import CLateLibraries
import CLibraryNames
private import CVorbisFile
import Glibc

/// Ogg Vorbis by libvorbisfile. No other file uses the library.
final class VorbisStream: LinkedStream {
    let links: [OggLink]

    private let handle: Handle
    private let source: OggSource
    /// True if the library failed to make a link's tables. Another attempt would use the empty tables and divide by
    /// zero (xiph/vorbis issue 124).
    private var isBroken = false

    /// The library's state, which must not move in memory.
    private struct Handle: ~Copyable {
        let file: UnsafeMutablePointer<OggVorbis_File>

        init(owning file: UnsafeMutablePointer<OggVorbis_File>) { self.file = file }

        deinit {
            ov_clear(file)
            file.deallocate()
        }
    }

    /// Opens the stream; `fields`: fields of the first link's comments. Throws `.broken`, or a read error.
    init(_ source: OggSource, fields: TagFields) throws(DecodingError) {
        let file = UnsafeMutablePointer<OggVorbis_File>.allocate(capacity: 1)
        let callbacks = ov_callbacks(
            read_func: { target, size, count, context in
                let source = Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue()
                let got = source.read(into: UnsafeMutableRawBufferPointer(start: target, count: size * count))
                // After a read of 0 bytes the library distinguishes the end from a failure by errno.
                errno = got == nil ? EIO : 0
                return got ?? 0
            },
            seek_func: { context, offset, whence in
                Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue().seek(offset, whence) ? 0 : -1
            },
            close_func: nil,
            tell_func: { context in Int(Unmanaged<OggSource>.fromOpaque(context!).takeUnretainedValue().readOffset) })
        guard late_vorbis_is_there() != 0 else {
            file.deallocate()
            throw .withoutLibrary(LIBRARY_VORBISFILE_FILE, package: LIBRARY_VORBISFILE_PACKAGE)
        }
        let status = ov_open_callbacks(Unmanaged.passUnretained(source).toOpaque(), file, nil, 0, callbacks)
        guard status == 0 else {
            file.deallocate()
            throw source.failure ?? DecodingError(.broken, Self.words(opening: status))
        }
        self.source = source
        handle = Handle(owning: file)
        links = (0..<Int(ov_streams(file))).map { index in
            let info = ov_info(file, Int32(index))!.pointee
            return OggLink(
                frames: max(0, ov_pcm_total(file, Int32(index))), sampleRate: Int(info.rate),
                channels: Int(info.channels), fields: index == 0 ? fields : Self.fields(file, index))
        }
        // The comments were copied; this frees libvorbis's own. It may clear an empty list again at the end.
        for index in links.indices { vorbis_comment_clear(ov_comment(file, Int32(index))) }
    }

    var position: Int64 { ov_pcm_tell(handle.file) }

    /// The library seeks exactly.
    func approach(_ frame: Int64, notBefore start: Int64) throws(DecodingError) -> Int64 {
        if isBroken { throw Self.brokenTables }
        source.forgetFailure()
        let status = ov_pcm_seek(handle.file, frame)
        isBroken = status == OV_EBADLINK
        if let failure = source.failure { throw failure }
        if status != 0 { throw DecodingError(.broken, "cannot seek to this position in it") }
        return frame
    }

    func read(
        _ frames: Int, channels: Int, into target: UnsafeMutablePointer<Float>
    ) throws(DecodingError) -> LinkedPiece {
        if isBroken { throw Self.brokenTables }
        source.forgetFailure()
        var followsHole = false
        // Any page may be damaged; the library continues while there are pages.
        while true {
            var planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>?
            var link: Int32 = 0
            let count = ov_read_float(handle.file, &planes, Int32(min(frames, 1 << 16)), &link)
            if let failure = source.failure { throw failure }
            if count >= 0 {
                let channels = links.indices.contains(Int(link)) ? links[Int(link)].channels : 0
                if let planes { Self.interleave(planes, channels, Int(count), to: target) }
                return LinkedPiece(frames: Int(count), link: Int(link), followsHole: followsHole)
            }
            if count == OV_EBADLINK {
                isBroken = true
                throw Self.brokenTables
            }
            guard count == OV_HOLE else {
                throw DecodingError(.broken, "the Vorbis decoder failed on it (error \(count))")
            }
            followsHole = true
        }
    }

    private static func interleave(
        _ planes: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>, _ channels: Int, _ frames: Int,
        to target: UnsafeMutablePointer<Float>
    ) {
        if channels == 2, let left = planes[0], let right = planes[1] {
            // The compiler makes vectors of this loop.
            for index in 0..<frames {
                target[2 &* index] = left[index]
                target[2 &* index &+ 1] = right[index]
            }
            return
        }
        for channel in 0..<channels {
            guard let plane = planes[channel] else { continue }
            var slot = channel
            for index in 0..<frames {
                target[slot] = plane[index]
                slot &+= channels
            }
        }
    }

    private static func fields(_ file: UnsafeMutablePointer<OggVorbis_File>, _ link: Int) -> TagFields {
        guard let comments = ov_comment(file, Int32(link))?.pointee, let texts = comments.user_comments,
            let lengths = comments.comment_lengths
        else { return TagFields() }
        return VorbisComments(count: Int(comments.comments)) { index, limit in
            [UInt8](UnsafeRawBufferPointer(start: texts[index], count: min(limit, Int(max(0, lengths[index])))))
        }.fields
    }

    private static let brokenTables = DecodingError(.broken, "its Vorbis codebooks are damaged")

    private static func words(opening status: Int32) -> String {
        switch status {
        case OV_EBADHEADER, OV_ENOTVORBIS: "its Vorbis headers are damaged or truncated"
        case OV_EVERSION: "it is of a later version of Vorbis"
        default: "the Vorbis decoder rejects it (error \(status))"
        }
    }
}
