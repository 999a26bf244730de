import CCurl
import CFFmpeg
import ChildDecoding

/// Carries out the orders about pictures. Nothing here decodes a still picture; the daemon examines it.
enum Pictures {
    private static let pieceBytes = 128 << 10

    /// Sends the pictures of the order, and ends with the daemon. Throws `WireFailure`.
    static func send(
        _ task: PictureRequest.Task, _ channel: DaemonChannel, _ profile: Profile, _ request: OpenRequest
    ) throws(WireFailure) -> Never {
        switch (task, profile) {
        case (.embedded, .file):
            for picture in try embedded(FileInput()) {
                send(picture.bytes, kindNumber: picture.kindNumber, channel)
            }
        case (.firstFrame, .file):
            send(try FirstFrame.picture(FileInput()), kindNumber: 0, channel)
        case (.fetch, .network): send(try fetched(channel, request), kindNumber: 0, channel)
        case (.embedded, .network), (.firstFrame, .network), (.fetch, .file):
            throw WireFailure(.unavailable, "this sandbox profile does not support the request")
        }
        channel.send(.end, [])
        channel.awaitEnd()
    }

    private static func send(_ bytes: [UInt8], kindNumber: UInt8, _ channel: DaemonChannel) {
        channel.send(.picture, WirePicture(kindNumber: kindNumber, count: bytes.count).bytes)
        bytes.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
                let end = min(start + pieceBytes, bytes.count)
                channel.send(.piece, UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
        }
    }

    // MARK: From the network

    /// All bytes of the file at an address. Throws `WireFailure`.
    private static func fetched(_ channel: DaemonChannel, _ request: OpenRequest) throws(WireFailure) -> [UInt8] {
        let tooLong = WireFailure(.unavailable, "it has more than \(WirePicture.maximumBytes >> 20) MiB")
        let connection = try HTTPConnection(channel, request)
        let transfer = try connection.open(offset: 0, readsLists: false)
        let length = transfer.head.contentLength
        if let length, length > WirePicture.maximumBytes { throw tooLong }
        var result: [UInt8] = []
        while true {
            try connection.wait { transfer.available > 0 || transfer.result != nil }
            while transfer.available > 0 {
                result += transfer.peek(pieceBytes)
                withUnsafeTemporaryAllocation(byteCount: pieceBytes, alignment: 16) { _ = transfer.take(into: $0) }
                guard result.count <= WirePicture.maximumBytes else { throw tooLong }
            }
            guard let code = transfer.result else { continue }
            guard code == CURLE_OK else { throw transfer.failure(code) }
            guard !result.isEmpty else { throw WireFailure(.notRecognised, "its server sends nothing") }
            return result
        }
    }

    // MARK: Embedded pictures

    /// The pictures of the best kind in a file. Throws `WireFailure`.
    static func embedded(_ input: any MediaInput) throws(WireFailure) -> [(kindNumber: UInt8, bytes: [UInt8])] {
        let file = try OpenFile(input, demuxers: KnownFormats.demuxers, decoders: "none")
        var found: [(kindNumber: UInt8, bytes: [UInt8])] = []
        var room = WirePicture.maximumBytes
        for stream in file.streams where stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0 {
            let packet = stream.pointee.attached_pic
            guard let data = packet.data, packet.size > 0, Int(packet.size) <= room else { continue }
            found.append((kind(of: stream), Array(UnsafeBufferPointer(start: data, count: Int(packet.size)))))
            room -= Int(packet.size)
        }
        // Order of the kinds: front cover, unspecified, all others, icons.
        let order = { (kind: UInt8) in kind == 3 ? 0 : kind == 0 ? 1 : kind == 1 || kind == 2 ? 3 : 2 }
        let best = found.map { order($0.kindNumber) }.min()
        return Array(found.filter { order($0.kindNumber) == best }.prefix(WirePicture.maximumCount))
    }

    /// Type of a picture, which containers state in several ways.
    private static func kind(of stream: UnsafeMutablePointer<AVStream>) -> UInt8 {
        let metadata = stream.pointee.metadata
        let words = [Tags.value("comment", of: metadata), Tags.value("filename", of: metadata)].compactMap(\.self)
        var text = words.joined(separator: " ").lowercased()
        for name in ["Cover Art (Front)", "Cover Art (Back)"] where Tags.value(name, of: metadata) != nil {
            text += " " + name.lowercased()
        }
        if text.contains("front") || text.contains("cover.") { return 3 }
        if text.contains("back") { return 4 }
        if text.contains("icon") { return 1 }
        return text.contains("artist") || text.contains("band") || text.contains("leaflet") ? 8 : 0
    }
}
