import CLinux
import Glibc

/// A shared library that is opened when it is first needed, and stays. Any thread; opening reads files, so never on the loop.
package struct DynamicLibrary: @unchecked Sendable {
    // @unchecked: the handle is only read, and dlsym may be called from any thread.
    private let handle: UnsafeMutableRawPointer

    /// Opens a library by its name with version (`libsonic.so.0`). Nil: it is not there.
    package init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// A function of the library, as the C type that its header gives it. Nil: the library has none of that name.
    package func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }

    /// Gives back the pages of its code and constants that are in memory; `name` is one of its functions. What is needed
    /// again comes back from the kernel's cache.
    package func giveBackPages(around name: String) {
        if let address = dlsym(handle, name) { linux_give_back_library_pages(address) }
    }
}
