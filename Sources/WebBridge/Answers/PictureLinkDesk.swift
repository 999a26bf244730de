import ControlProtocol
import LinuxSystem
import NowPlaying
import WebAccess
import WebProtocol

/// Makes and judges addresses of single pictures that need no token.
@PlayerLoop final class PictureLinkDesk {
    /// An address, and the end of its validity.
    struct Link: Equatable {
        let address: String
        /// Unix time in seconds.
        let until: Int64
    }

    /// Addresses of this bridge for other machines, the best first.
    var urls: @PlayerLoop () -> [String] = { [] }
    private let key = PictureKey()

    /// Minimum seconds for which an address is valid; it is valid at most an hour longer.
    private static let duration: Int64 = 24 * 3600

    /// An address of a picture. `now`: Unix time in seconds. Throws when no other machine can reach the bridge.
    func make(_ id: String, size: Int64, at now: Double) throws(RPCError) -> Link {
        guard (1...128).contains(id.utf8.count), id.utf8.allSatisfy(RequestHead.isTokenByte) else {
            throw .invalidParameter("id", "“id” has to be the id of a picture of a state")
        }
        guard let url = urls().first else {
            throw .commandFailed(.unavailable, "no other machine can reach nowplaying-web; set “bind” in [web]")
        }
        // The same address for an hour, so that browsers keep the picture.
        let until = (Int64(clamping: now) / 3600 + 1) * 3600 + Self.duration
        let query = "size=\(size)&until=\(until)&key=\(key.signature(id, size: size, until: until))"
        return Link(address: url + "artwork/\(id).jpg?\(query)", until: until)
    }

    /// True if the address of a request has a permission for exactly this picture. `now`: Unix time in seconds.
    func admits(_ request: ArtworkRequest, at now: Double) -> Bool {
        guard let grant = request.grant, request.kind == .image, let size = request.size, Double(grant.until) > now
        else {
            return false
        }
        return key.isSignature(grant.key, request.id, size: Int64(size), until: grant.until)
    }
}
