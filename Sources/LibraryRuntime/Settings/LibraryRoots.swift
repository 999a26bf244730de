import ConfigurationFiles
import ControlProtocol
import Glibc
package import LinuxSystem

/// The folders of the library with their names, which a file stores.
package enum LibraryRoots {
    /// The folders by the settings: their own, else the media roots, else the music folder of a user's daemon.
    package static func folders(
        _ settings: LibrarySettings, uid: UInt32, environment: (String) -> String?
    ) -> [FilePath] {
        let named = settings.folders.isEmpty ? settings.mediaRoots : settings.folders
        if !named.isEmpty { return named.compactMap { FilePath(Array($0.utf8)) } }
        let isUser = environment("XDG_RUNTIME_DIR") != nil || (uid != 0 && environment("STATE_DIRECTORY") == nil)
        guard isUser, let home = environment("HOME") else { return [] }
        var ignored: [String] = []
        let file = (environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/user-dirs.dirs"
        let text = (try? INIFile.contents(file, isOptional: true, unreadable: &ignored)) ?? nil
        return MusicFolder.path(text, home: home).map { [$0] } ?? []
    }

    /// Names of these folders. Names in `file` are kept, and changes are written to it; a fault of it is logged.
    package static func named(_ folders: [FilePath], file: String) -> [RootNames.Root] {
        let kept = read(file)
        let roots = RootNames.roots(folders, kept: kept)
        // Names of removed folders stay in the file, so that a folder that returns gets its name back.
        let gone = kept.filter { old in !roots.contains { $0.path == old.path || $0.name == old.name } }
        if roots + gone != kept { write(roots + gone, to: file) }
        return roots
    }

    private static func read(_ file: String) -> [RootNames.Root] {
        var ignored: [String] = []
        guard let bytes = (try? INIFile.contents(file, isOptional: true, unreadable: &ignored)) ?? nil,
            let rows = (try? JSONReader.read(bytes))?["folders"]?.arrayValue
        else { return [] }
        return rows.compactMap { row in
            guard let path = row["path"]?.stringValue, let name = row["name"]?.stringValue,
                let path = FilePath(Array(path.utf8)), !name.isEmpty, !name.contains("/")
            else { return nil }
            return RootNames.Root(path: path, name: Array(name.utf8))
        }
    }

    private static func write(_ roots: [RootNames.Root], to file: String) {
        let rows = roots.map { root -> JSONValue in
            ["path": .string(root.path.text), "name": .string(String(decoding: root.name, as: UTF8.self))]
        }
        let bytes = Array((JSONWriter.text(["folders": .array(rows)]) + "\n").utf8)
        let fresh = file + ".new"
        let descriptor = FreshFile.make(fresh)
        guard descriptor >= 0 else {
            return Log.warning(
                "cannot keep the names of the library's folders: \(SystemError("make \(fresh)").message)")
        }
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        let fault = SystemError("write \(fresh)")
        close(descriptor)
        guard isWritten, rename(fresh, file) == 0 else {
            unlink(fresh)
            return Log.warning("cannot keep the names of the library's folders: \(fault.message)")
        }
    }
}
