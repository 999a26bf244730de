import CLibraryNames
import LinuxSystem

/// libsonic, opened for the first rate other than 1. The functions are those of sonic.h 0.2.0.
struct SonicLibrary: Sendable {
    /// Frames a second and samples have the library's own types: `float`, `short`.
    let create: @convention(c) (_ sampleRate: Int32, _ channels: Int32) -> OpaquePointer?
    let destroy: @convention(c) (OpaquePointer) -> Void
    /// Sets the speed of later input: 1 is unchanged.
    let setSpeed: @convention(c) (OpaquePointer, Float) -> Void
    /// Takes this many frames, channels interleaved; 0: no memory.
    let write: @convention(c) (OpaquePointer, UnsafeMutablePointer<Int16>, Int32) -> Int32
    /// Fills in up to this many frames; returns the count.
    let read: @convention(c) (OpaquePointer, UnsafeMutablePointer<Int16>, Int32) -> Int32
    /// Frames that can be read now.
    let available: @convention(c) (OpaquePointer) -> Int32

    /// Nil: it is not installed, or lacks a function. Opened once in the life of the process.
    static let shared: SonicLibrary? = SonicLibrary()

    private init?() {
        guard let library = DynamicLibrary(LIBRARY_SONIC_FILE),
            let create = library.function(
                "sonicCreateStream", as: (@convention(c) (Int32, Int32) -> OpaquePointer?).self),
            let destroy = library.function("sonicDestroyStream", as: (@convention(c) (OpaquePointer) -> Void).self),
            let setSpeed = library.function("sonicSetSpeed", as: (@convention(c) (OpaquePointer, Float) -> Void).self),
            let write = library.function(
                "sonicWriteShortToStream",
                as: (@convention(c) (OpaquePointer, UnsafeMutablePointer<Int16>, Int32) -> Int32).self),
            let read = library.function(
                "sonicReadShortFromStream",
                as: (@convention(c) (OpaquePointer, UnsafeMutablePointer<Int16>, Int32) -> Int32).self),
            let available = library.function(
                "sonicSamplesAvailable", as: (@convention(c) (OpaquePointer) -> Int32).self)
        else { return nil }
        self.create = create
        self.destroy = destroy
        self.setSpeed = setSpeed
        self.write = write
        self.read = read
        self.available = available
    }
}
