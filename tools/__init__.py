"""Programs that write documents and judge the product against truth; run from the repository, not part of the
package.
"""
