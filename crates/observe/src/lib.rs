//! What the host is and what the kernel saw: files of sysfs and procfs read into facts.
