import ControlProtocol
import LinuxSystem

/// The library's parameters for pictures, by the picture's id.
@PlayerLoop final class KnownPictures {
    private var parameters: [String: JSONObject] = [:]
    /// Ids in the order of their arrival.
    private var order: [String] = []

    /// Maximum number of known pictures.
    private static let limit = 2000

    /// Maximum bytes of the parameters of a picture; longer ones are not kept.
    private static let maximumBytes = 4096

    /// Records a picture from an answer of the library.
    func note(_ id: String, _ found: JSONObject) {
        var found = found
        for name in ["size", "width", "height", "fit"] { found[name] = nil }
        guard id.utf8.count <= 128, JSONWriter.text(.object(found)).utf8.count <= Self.maximumBytes else { return }
        if parameters.updateValue(found, forKey: id) == nil { order.append(id) }
        guard order.count > Self.limit else { return }
        parameters[order.removeFirst()] = nil
    }

    /// The parameters for a picture; nil: the library has not named it.
    func parameters(_ id: String) -> JSONObject? { parameters[id] }
}
