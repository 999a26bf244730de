import AudioCore
import AudioDecoders
import Glibc
import TestSupport
import Testing

/// An open decoder for the content of an address.
func remote(
    _ address: String, isOwners: Bool = true, wasPublic: Bool = false, certificates: String? = nil
) throws(DecodingError) -> ChildDecoder {
    let media = RemoteMedia(address: address, shownAddress: "shown", mayUseLoopback: isOwners)
    media.wasPublic = wasPublic
    let decoder = try ChildDecoder(media, certificates: certificates, userAgent: "test/1")
    try decoder.awaitOpening()
    return decoder
}

/// Why an address can't be opened; empty: it can.
func refusal(
    _ address: String, isOwners: Bool = true, wasPublic: Bool = false, certificates: String? = nil
) -> String {
    do throws(DecodingError) {
        _ = try remote(address, isOwners: isOwners, wasPublic: wasPublic, certificates: certificates)
        return ""
    } catch {
        return error.message
    }
}

/// A file of a container and coding that ffmpeg writes.
func coded(_ material: AudioMaterial, _ name: String, _ options: [String], in folder: TemporaryFolder) throws -> [UInt8]
{
    let source = folder.write(material.wave(), "source.wav")
    let path = folder.path(name)
    try #require(AudioMaterial.run("ffmpeg", ["-v", "error", "-y", "-i", source] + options + [path]) == 0)
    return folder.read(name)
}

/// An address of this machine that is neither the loopback nor a public one, as it stands in a URL; nil: it has none.
func localAddress() -> String? {
    var list: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&list) == 0 else { return nil }
    defer { freeifaddrs(list) }
    var entry = list
    while let here = entry {
        defer { entry = here.pointee.ifa_next }
        guard let address = here.pointee.ifa_addr else { continue }
        var text = [CChar](repeating: 0, count: 64)
        let isSix = Int32(address.pointee.sa_family) == AF_INET6
        guard isSix || Int32(address.pointee.sa_family) == AF_INET else { continue }
        let size = isSix ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        guard getnameinfo(address, socklen_t(size), &text, 64, nil, 0, NI_NUMERICHOST) == 0 else { continue }
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if name.hasPrefix("10.") || name.hasPrefix("192.168.") { return name }
        if name.hasPrefix("fd") { return "[\(name)]" }
    }
    return nil
}
