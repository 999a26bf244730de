import ControlProtocol
import LinuxSystem

/// The parameters by which the library finds a picture again, by the picture's id.
@PlayerLoop final class KnownPictures {
    private var parameters: [String: JSONObject] = [:]
    /// Ids in the order in which they came.
    private var order: [String] = []

    /// Pictures that are known, at most.
    private static let limit = 2000

    /// Notes a picture that the library has named.
    func note(_ id: String, _ found: JSONObject) {
        var found = found
        for name in ["size", "width", "height", "fit"] { found[name] = nil }
        if parameters.updateValue(found, forKey: id) == nil { order.append(id) }
        guard order.count > Self.limit else { return }
        parameters[order.removeFirst()] = nil
    }

    /// The parameters for a picture; nil: the library has not named it.
    func parameters(_ id: String) -> JSONObject? { parameters[id] }
}
