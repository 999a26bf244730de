import ControlProtocol
import LinuxSystem

/// Addresses of pictures for phones, from nowplaying-web on this machine. Each is valid for one picture and a day.
@PlayerLoop final class PictureLinks {
    private let workers: Workers
    private let port: UInt16
    private var known: [PictureLink] = []
    private var asked: String?

    /// Maximum number of remembered addresses: an album has one for all its items.
    private static let remembered = 16

    /// Asks nowplaying-web at this port of the loopback address.
    init(_ loop: EventLoop, port: UInt16) {
        workers = Workers(loop, name: "pictures")
        self.port = port
    }

    private static func id(of item: JSONValue?) -> String? {
        item?["artwork"]?.arrayValue?.first { $0["kind"] == "image" }?["id"]?.stringValue
    }

    private func link(_ id: String) -> PictureLink? {
        let least = PictureLink.now + PictureLink.reserve
        return known.last { $0.id == id && $0.until > least }
    }

    /// The address of an item's picture; nil: there is none, or it is not known yet.
    func address(of item: JSONValue?) -> String? { Self.id(of: item).flatMap { link($0)?.address } }

    /// True during the request for the address of this item's picture.
    func isPending(for item: JSONValue?) -> Bool { asked != nil && Self.id(of: item) == asked }

    /// Requests the address of an item's picture if it is not known. `done` follows the answer, even a failed one.
    func look(for item: JSONValue?, _ done: @escaping @PlayerLoop () -> Void) {
        guard let id = Self.id(of: item), id != asked, link(id) == nil else { return }
        asked = id
        workers.submit { [port] in
            PictureLink.ask(port, id)
        } _: { [weak self] link in
            guard let self else { return }
            if asked == id { asked = nil }
            if let link {
                known.append(link)
                if known.count > Self.remembered { known.removeFirst() }
            }
            done()
        }
    }
}
