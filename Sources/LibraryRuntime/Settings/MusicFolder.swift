package import LinuxSystem

/// The music folder of a user's session (xdg-user-dirs).
package enum MusicFolder {
    /// The folder of `XDG_MUSIC_DIR` in the text of `user-dirs.dirs`, else `Music` below `home`; nil: the user has
    /// disabled it by setting the home directory itself.
    package static func path(_ userFolders: [UInt8]?, home: String) -> FilePath? {
        let home = FilePath(stringLiteral: home).normalized
        for line in String(decoding: userFolders ?? [], as: UTF8.self).split(whereSeparator: \.isNewline).reversed() {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.drop { $0 == " " } }
            guard parts.count == 2, parts[0] == "XDG_MUSIC_DIR", parts[1].first == "\"",
                let end = parts[1].dropFirst().lastIndex(of: "\"")
            else { continue }
            let value = String(parts[1].dropFirst()[..<end])
            let path: FilePath
            if value == "$HOME" || value.hasPrefix("$HOME/") {
                path = home.appending(FilePath(stringLiteral: String(value.dropFirst(6)))).normalized
            } else if value.hasPrefix("/") {
                path = FilePath(stringLiteral: value).normalized
            } else {
                continue
            }
            return path == home ? nil : path
        }
        return home.appending("Music")
    }
}
