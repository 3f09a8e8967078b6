//! What is counted of a group buffer pool, as a whole and by each member.

use crate::policy::counters::counters;

counters! {
    /// Counters of a group buffer pool since the simulation began.
    GroupCounters {
        /// Cross-invalidations because another member changed the page.
        invalidated_by_write "",
        /// Cross-invalidations because a directory entry was reclaimed.
        invalidated_by_reclaim "",
        /// Directory entries reclaimed.
        directory_reclaims "",
        /// Data entries reclaimed.
        data_reclaims "",
        /// Times that a class's changed pages exceeded CLASST.
        class_threshold "",
        /// Times that changed pages exceeded GBPOOLT.
        pool_threshold "",
        /// Pages cast out.
        castout_pages "QBGLRC",
        /// Castout I/Os.
        castout_ios "QBSTCIO",
    }
}

counters! {
    /// What one member counts of a group buffer pool.
    MemberGroupCounters {
        /// Reads of pages not in the local pool that returned data.
        misses_with_data "QBGLMD",
        /// Reads of pages not in the local pool that returned none.
        misses_without_data "QBGLMR",
        /// Reads after cross-invalidation that returned data.
        invalid_with_data "QBGLXD",
        /// Reads after cross-invalidation that returned none.
        invalid_without_data "QBGLXR",
        /// Changed pages written synchronously.
        sync_writes "QBGLSW",
        /// Changed pages written asynchronously.
        async_writes "QBGLAW",
        /// Writes that failed for lack of storage.
        failed_writes "QBGLWF",
        /// Requests that registered the pages of a prefetch.
        register_lists "QBGLAX",
        /// Pages of these that were read from here.
        prefetched_pages "QBGLAY",
        /// Requests that ended the registration of a page whose buffer took a page that is not registered.
        unregistered "QBGLDG",
        /// Pages that it cast out, as the first that changed a page of their data set.
        castout_pages "QBGLRC",
        /// I/Os of these, after each of which the pages are unlocked.
        castout_unlocks "QBGLUN",
        /// Requests for the names of a class's changed pages.
        castout_classes "QBGLCC",
        /// Requests for the numbers of changed pages by class, where GBPOOLT was exceeded.
        castout_statistics "QBGLCS",
        /// Times that it was told of an exceeded CLASST.
        class_threshold "QBGLCT",
        /// Times that it was told of an exceeded GBPOOLT.
        pool_threshold "QBGLGT",
        /// Requests that deleted all pages of a data set.
        deleted_names "QBGLDN",
    }
}
