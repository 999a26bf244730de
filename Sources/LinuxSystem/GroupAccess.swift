import CLinux
import Glibc

/// Gives groups access to a file.
package enum GroupAccess {
    /// The number of a group, by its name or as a number; nil: there is no such group.
    package static func number(of group: String) -> UInt32? {
        if let number = UInt32(group) { return number }
        return getgrnam(group)?.pointee.gr_gid
    }

    /// Gives the file to the first of `groups`, if the process may, and the other groups access by an access control
    /// list. `ownerMay` and `groupsMay` are permissions (0…7); all others have none.
    package static func allow(_ groups: [UInt32], _ path: String, ownerMay: UInt16, groupsMay: UInt16)
        throws(SystemError)
    {
        guard let first = groups.first else { return }
        var status = stat()
        // Only members of a group may give files to it, and a sandbox may forbid it altogether.
        let isGiven = (lstat(path, &status) == 0 && status.st_gid == first) || lchown(path, uid_t.max, first) == 0
        let listed = isGiven ? Array(groups.dropFirst()) : groups
        guard !listed.isEmpty else { return }
        let list = accessList(listed, ownerMay, groupsMay, fileGroupMay: isGiven ? groupsMay : 0)
        guard linux_set_attribute(path, "system.posix_acl_access", list, list.count) == 0 else {
            throw SystemError("let group \(listed[0]) use \(path) by an access control list")
        }
    }

    /// The list in the kernel's format (linux/posix_acl_xattr.h): version 2, then entries of tag, permissions and
    /// number.
    private static func accessList(
        _ groups: [UInt32], _ ownerMay: UInt16, _ groupsMay: UInt16, fileGroupMay: UInt16
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
        func entry(_ tag: UInt16, _ permissions: UInt16, _ number: UInt32 = .max) {
            append(tag)
            append(permissions)
            append(number)
        }
        append(UInt32(2))
        entry(0x01, ownerMay)
        entry(0x04, fileGroupMay)
        for group in groups.sorted() { entry(0x08, groupsMay, group) }
        entry(0x10, groupsMay)
        entry(0x20, 0)
        return bytes
    }
}
