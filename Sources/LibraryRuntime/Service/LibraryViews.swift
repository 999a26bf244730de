package import LinuxSystem
import MediaAccess

/// The library as its clients see it at present. A reload changes it.
@PlayerLoop package final class LibraryViews {
    /// The view of the daemon's own user and root.
    private(set) var own: LibraryView
    private var foreign: LibraryView

    /// Views of these folders; foreign users see what lies below `mediaRoots`.
    package init(_ roots: [RootNames.Root], mediaRoots: [String]) {
        own = LibraryView(roots)
        foreign = LibraryView(roots, within: MediaRoots(mediaRoots))
    }

    /// Takes over other folders.
    package func change(_ roots: [RootNames.Root], mediaRoots: [String]) {
        own = LibraryView(roots)
        foreign = LibraryView(roots, within: MediaRoots(mediaRoots))
    }

    /// The view of a client.
    package func view(isForeign: Bool) -> LibraryView { isForeign ? foreign : own }
}
