package import LinuxSystem

/// Names of the library's folders for clients: the last part of the path, with ` (2)` and so on for folders of the same
/// name. A folder keeps its name while it is in the library, in any order of the settings.
package enum RootNames {
    /// A folder of the library with its name.
    package struct Root: Equatable, Sendable {
        /// Absolute and normalized.
        package let path: FilePath
        /// Without a slash, in the bytes of the path.
        package let name: [UInt8]

        /// A folder, by its parts.
        package init(path: FilePath, name: [UInt8]) {
            self.path = path
            self.name = name
        }
    }

    /// Names of these folders. `kept`: the names of the last run. A folder below another one is left out, as the other
    /// one includes it.
    package static func roots(_ paths: [FilePath], kept: [Root]) -> [Root] {
        let all = distinct(paths.map(\.normalized))
        let outer = all.filter { path in !all.contains { $0 != path && path.below($0) != nil } }
        var used = Set<[UInt8]>()
        var names: [FilePath: [UInt8]] = [:]
        for root in kept where outer.contains(root.path) && names[root.path] == nil && used.insert(root.name).inserted {
            names[root.path] = root.name
        }
        return outer.map { path in
            if let name = names[path] { return Root(path: path, name: name) }
            // The root of the file system has no name of its own.
            let name = free(path.name.isEmpty ? Array("root".utf8) : Array(path.name), used)
            used.insert(name)
            return Root(path: path, name: name)
        }
    }

    private static func distinct(_ paths: [FilePath]) -> [FilePath] {
        var seen = Set<FilePath>()
        return paths.filter { seen.insert($0).inserted }
    }

    private static func free(_ name: [UInt8], _ used: Set<[UInt8]>) -> [UInt8] {
        var number = 1
        var result = name
        while used.contains(result) {
            number += 1
            result = name + Array(" (\(number))".utf8)
        }
        return result
    }
}
